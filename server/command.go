package server

// commandNames are the commands of the protocol by their first byte, as SHOW PROCESSLIST names them.
var commandNames = map[byte]string{
	0x00: "Sleep", 0x01: "Quit", 0x02: "Init DB", 0x03: "Query", 0x04: "Field List", 0x09: "Statistics", 0x0a: "Processlist", 0x0b: "Connect",
	0x0c: "Kill", 0x0d: "Debug", 0x0e: "Ping", 0x11: "Change user", 0x16: "Prepare", 0x17: "Execute", 0x18: "Long Data", 0x19: "Close stmt",
	0x1a: "Reset stmt", 0x1b: "Set option", 0x1c: "Fetch", 0x1f: "Reset Connection",
}
