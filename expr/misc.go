package expr

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/types"
)

// miscTable has the functions of network addresses and UUIDs.
var miscTable = map[string]function{
	"inet_aton": {1, 1, 0, readable(plain(uintType(21), evalInetAton))}, "inet_ntoa": {1, 1, 0, asciiText(chars(31), evalInetNtoa)},
	"inet6_aton": {1, 1, 0, bytesOut(chars(16), evalInet6Aton)}, "inet6_ntoa": {1, 1, 0, asciiText(chars(39), evalInet6Ntoa)},
	"is_ipv4": {1, 1, 0, plain(boolType(), evalIsIP)}, "is_ipv6": {1, 1, 0, plain(boolType(), evalIsIP)},
	"is_ipv4_compat": {1, 1, 0, plain(boolType(), evalIsIPForm)}, "is_ipv4_mapped": {1, 1, 0, plain(boolType(), evalIsIPForm)},
	"uuid": {0, 0, FlagVolatile, systemText(36, evalUUID)}, "uuid_short": {0, 0, FlagVolatile, plain(uintType(21), evalUUIDShort)},
	"is_uuid": {1, 1, 0, plain(boolType(), evalIsUUID)}, "uuid_to_bin": {1, 2, 0, bytesOut(chars(16), evalUUIDToBin)},
	"bin_to_uuid": {1, 2, 0, asciiText(chars(36), evalBinToUUID)},
}

// evalInetAton reads a.b.c.d. If there are fewer than four parts, those before the last are 0, as in the C library: 127.1 is 127.0.0.1.
func evalInetAton(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	total, part, dots := uint64(0), uint64(0), 0
	digit := false
	for _, c := range s.B {
		switch {
		case c >= '0' && c <= '9' && part*10+uint64(c-'0') <= 255:
			part, digit = part*10+uint64(c-'0'), true
		case c == '.' && digit && dots < 3:
			total, part, digit = total<<8|part, 0, false
			dots++
		default:
			return ctx.badArgument(n, s.B), nil
		}
	}
	if !digit {
		return ctx.badArgument(n, s.B), nil
	}
	for ; dots > 0 && dots < 3; dots++ {
		total <<= 8
	}
	return types.Uint(total<<8 | part), nil
}

// quotedMax bounds the bytes of a text that are copied for a message. It is more than the length of a message.
const quotedMax = 512

// quoted returns s in single quotes, for messages, cut off at quotedMax.
func quoted(s []byte) string { return "'" + string(s[:min(len(s), quotedMax)]) + "'" }

// badArgument returns NULL and raises warning 1411.
func (ctx *Ctx) badArgument(n *Node, s []byte) types.Value {
	ctx.Warn(types.LevelWarning, types.ErWrongValueForType, "string", quoted(s), n.name)
	return types.Null()
}

func evalInetNtoa(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, null, err := ctx.int(n.args[0], row)
	if null || v < 0 || v > 0xFFFFFFFF {
		return types.Null(), err
	}
	a := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
	return n.textResult([]byte(a.String())), nil
}

// addressBytesMax is more bytes than the text of any address has.
const addressBytesMax = 64

func parseAddress(s []byte) (a netip.Addr, ok bool) {
	if len(s) > addressBytesMax {
		return a, false
	}
	a, err := netip.ParseAddr(string(withoutZeros(s)))
	return a, err == nil && a.Zone() == ""
}

// withoutZeros drops zeros in front of the numbers of an IPv4 address, which MySQL accepts in up to three digits and package netip does not.
func withoutZeros(s []byte) []byte {
	at := bytes.LastIndexByte(s, ':') + 1
	parts := bytes.Split(s[at:], []byte{'.'})
	if len(parts) != 4 || !bytes.Contains(s[at:], []byte(".0")) && s[at] != '0' {
		return s
	}
	for i, p := range parts {
		if len(p) <= 3 {
			for len(p) > 1 && p[0] == '0' {
				p = p[1:]
			}
			parts[i] = p
		}
	}
	return append(bytes.Clone(s[:at]), bytes.Join(parts, []byte{'.'})...)
}

func evalInet6Aton(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	a, ok := parseAddress(s.B)
	if !ok {
		return ctx.badArgument(n, s.B), nil
	}
	return types.Bytes(a.AsSlice()), nil
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func evalInet6Ntoa(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	a, ok := netip.AddrFromSlice(s.B)
	if !ok || n.args[0].typ.Coll != types.Binary {
		return ctx.badArgument(n, s.B), nil
	}
	if head, tail := s.B[:len(s.B)-4], s.B[len(s.B)-4:]; len(head) == 12 && isZero(head) && !isZero(tail[:2]) {
		v4 := netip.AddrFrom4([4]byte(tail)) // MySQL writes IPv4-compatible addresses as ::a.b.c.d, unlike RFC 5952
		return n.textResult(v4.AppendTo([]byte("::"))), nil
	}
	if a.Is4() || a.Is4In6() {
		return n.textResult([]byte(a.String())), nil
	}
	return n.textResult(appendIPv6(nil, a.As16())), nil
}

// appendIPv6 writes an address as MySQL does: unlike RFC 5952 it shortens a single zero, too.
func appendIPv6(dst []byte, a [16]byte) []byte {
	group := func(i int) uint16 { return binary.BigEndian.Uint16(a[2*i:]) }
	from, to := 8, 8 // the longest run of zeros
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && group(j) == 0 {
			j++
		}
		if j-i > to-from {
			from, to = i, j
		}
		i = max(i, j-1)
	}
	for i := 0; i < 8; i++ {
		if i == from {
			if dst = append(dst, ':'); to == 8 {
				dst = append(dst, ':')
			}
			i = to - 1
			continue
		}
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(group(i)), 16)
	}
	return dst
}

func evalIsIP(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	a, ok := parseAddress(s.B)
	return types.Bool(ok && a.Is4() == (n.name == "is_ipv4")), nil
}

func evalIsIPForm(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if len(s.B) != 16 {
		return types.Int(0), nil
	}
	a := netip.AddrFrom16([16]byte(s.B))
	if n.name == "is_ipv4_mapped" {
		return types.Bool(a.Is4In6()), nil
	}
	tail := uint32(s.B[12])<<24 | uint32(s.B[13])<<16 | uint32(s.B[14])<<8 | uint32(s.B[15])
	return types.Bool(isZero(s.B[:12]) && tail > 1), nil
}

// uuidEpoch100ns is the time from the start of UUID timestamps, 15 October 1582, to 1970, in units of 100 ns.
const uuidEpoch100ns = 0x01B21DD213814000

// evalUUID returns a version 1 UUID (RFC 4122), as MySQL does: its time keeps UUIDs of the same minutes close together when UUID_TO_BIN swaps
// its parts. Clock sequence and node are random.
func evalUUID(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) {
	var u [16]byte
	if _, err := rand.Read(u[:]); err != nil {
		return types.Null(), err
	}
	t := uint64(clock.Now().UnixNano()/100) + uuidEpoch100ns
	for i := range 4 {
		u[i] = byte(t >> (24 - 8*i))
	}
	u[4], u[5] = byte(t>>40), byte(t>>32)
	u[6], u[7] = byte(t>>56)&0x0F|0x10, byte(t>>48)
	u[8] = u[8]&0x3F | 0x80
	u[10] |= 1 // the multicast bit marks a node that is no hardware address
	return n.textResult(uuidText(u[:])), nil
}

func uuidText(u []byte) []byte {
	h := hex.EncodeToString(u)
	return []byte(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// shortUUIDs is the last result of UUID_SHORT in this process. As in MySQL, results are made of a number of the server, here 7 random bits, so that they
// are below 2^63, of the time of its start, and of a count.
var shortUUIDs = sync.OnceValue(func() *atomic.Uint64 {
	var random [1]byte
	_, _ = rand.Read(random[:]) // it never fails
	n := new(atomic.Uint64)
	n.Store(uint64(random[0]>>1)<<56 | shortUUIDStart(clock.Now()))
	return n
})

// shortUUIDStart is where a process that starts now begins: at the time in units of 2^-24 s. No other process that has the same number meets its results,
// as long as the clock is not set back and there are fewer than 16 million per second of uptime. MySQL's seconds would let a server that starts twice
// within one repeat itself, and so would a count that begins anywhere in the second. Results that took the time of each call would meet those of another
// node in the same 60 ns; by the time of the start, only nodes that start together can.
func shortUUIDStart(now time.Time) uint64 {
	return uint64(now.Unix())<<24 | uint64(now.Nanosecond())<<24/1e9
}

func evalUUIDShort(_ *Ctx, _ *Node, _ []types.Value) (types.Value, error) {
	return types.Uint(shortUUIDs().Add(1)), nil
}

// parseUUID reads the forms that MySQL accepts: 32 hexadecimal digits, with dashes between their groups, and those in braces.
func parseUUID(s []byte) ([]byte, bool) {
	if len(s) == 38 && s[0] == '{' && s[37] == '}' {
		s = s[1:37]
	}
	if len(s) == 36 {
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return nil, false
		}
		s = []byte(string(s[:8]) + string(s[9:13]) + string(s[14:18]) + string(s[19:23]) + string(s[24:]))
	}
	if len(s) != 32 {
		return nil, false
	}
	out := make([]byte, 16)
	_, err := hex.Decode(out, s)
	return out, err == nil
}

func evalIsUUID(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	_, ok := parseUUID(s.B)
	return types.Bool(ok), nil
}

// swapFlag evaluates the second argument of UUID_TO_BIN and BIN_TO_UUID: whether the parts of the time are swapped.
func (ctx *Ctx) swapFlag(n *Node, row []types.Value) (bool, error) {
	if len(n.args) < 2 {
		return false, nil
	}
	v, _, err := ctx.int(n.args[1], row)
	return v != 0, err
}

func evalUUIDToBin(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	u, ok := parseUUID(s.B)
	if !ok {
		return types.Null(), types.Errorf(types.ErWrongValueForType, "string", s.B, n.name)
	}
	swap, err := ctx.swapFlag(n, row)
	if swap {
		u = []byte{u[6], u[7], u[4], u[5], u[0], u[1], u[2], u[3], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]}
	}
	return types.Bytes(u), err
}

func evalBinToUUID(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	u := s.B
	if len(u) != 16 {
		return types.Null(), types.Errorf(types.ErWrongValueForType, "string", s.B, n.name)
	}
	swap, err := ctx.swapFlag(n, row)
	if swap {
		u = []byte{u[4], u[5], u[6], u[7], u[2], u[3], u[0], u[1], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]}
	}
	return n.textResult(uuidText(u)), err
}
