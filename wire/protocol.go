package wire

// Capability flags, CLIENT_* in MySQL's documents. Those that sessions look at are in api.go.
const (
	capLongPassword    = 1 << 0
	capLongFlag        = 1 << 2
	capConnectWithDB   = 1 << 3
	capCompress        = 1 << 5
	capODBC            = 1 << 6
	capProtocol41      = 1 << 9
	capSSL             = 1 << 11
	capIgnoreSigpipe   = 1 << 12
	capTransactions    = 1 << 13
	capReserved        = 1 << 14
	capSecureConn      = 1 << 15
	capMultiResults    = 1 << 17
	capPSMultiResults  = 1 << 18
	capPluginAuth      = 1 << 19
	capConnectAttrs    = 1 << 20
	capAuthLenenc      = 1 << 21
	capExpiredPassword = 1 << 22
	capDeprecateEOF    = 1 << 24
	capZstd            = 1 << 26
	capQueryAttributes = 1 << 27
)

// serverCapabilities is what is offered to every client; SSL is added where it is on. Not offered, on purpose: OPTIONAL_RESULTSET_METADATA, NO_SCHEMA.
// Flags that a client sets although they were not offered are masked out.
const serverCapabilities = capLongPassword | CapFoundRows | capLongFlag | capConnectWithDB | capCompress | capODBC |
	CapIgnoreSpace | CapLocalFiles | capProtocol41 | CapInteractive | capIgnoreSigpipe | capTransactions | capReserved | capSecureConn |
	CapMultiStatements | capMultiResults | capPSMultiResults | capPluginAuth | capConnectAttrs | capAuthLenenc |
	capExpiredPassword | CapSessionTrack | capDeprecateEOF | capZstd | capQueryAttributes

// The commands, by the first byte of their packet. ConnStatus.Command holds one of them.
const (
	ComSleep           byte = 0x00
	ComQuit            byte = 0x01
	ComInitDB          byte = 0x02
	ComQuery           byte = 0x03
	ComFieldList       byte = 0x04
	ComRefresh         byte = 0x07
	ComShutdown        byte = 0x08
	ComStatistics      byte = 0x09
	ComProcessInfo     byte = 0x0a
	ComProcessKill     byte = 0x0c
	ComDebug           byte = 0x0d
	ComPing            byte = 0x0e
	ComChangeUser      byte = 0x11
	ComStmtPrepare     byte = 0x16
	ComStmtExecute     byte = 0x17
	ComStmtSendLong    byte = 0x18
	ComStmtClose       byte = 0x19
	ComStmtReset       byte = 0x1a
	ComSetOption       byte = 0x1b
	ComStmtFetch       byte = 0x1c
	ComResetConnection byte = 0x1f
	// ComConnect is not a command of the protocol on this side: it stands for authentication.
	ComConnect  byte = 0x0b
	numCommands      = 0x20
)

// First bytes of packets.
const (
	headerOK         = 0x00
	headerMore       = 0x01 // AuthMoreData
	headerEOF        = 0xfe // also AuthSwitchRequest
	headerErr        = 0xff
	lenencNull       = 0xfb
	shaRequestKey    = 0x02
	shaFastOK        = 0x03
	shaFullAuth      = 0x04
	protocolVersion  = 10
	greetingCharset  = 255 // utf8mb4_0900_ai_ci
	sslRequestLen    = 32
	setMultiOn       = 0
	setMultiOff      = 1
	paramTypeNull    = 0x06
	paramTypeVarchar = 0x0f
	paramTypeUnsign  = 0x80
)
