// Package types holds MySQL's values: what a value is, how it compares, converts,
// is stored, ordered in keys and sent to a client.
//
// # Place
//
// types is near the bottom: catalog, table, ddl, stats, expr, exec, plan, session
// and wire use it, and it imports nothing of Pando. It is the only user of the
// vitess packages: collation weights and character sets come from
// collations/colldata, but for those that it lacks (collationown.go), regular
// expressions from icuregex. Decimals, dates and JSON text are implemented here, because
// MySQL's rules need the unscaled integer, the seventh digit of a fraction, and the
// positions in error texts (decimalwide.go, json.go).
//
// # Terms
//
//   - kind: how a Value is represented and computed with (Kind). Type.Kind maps a
//     column type to its kind.
//   - stored form: the bytes of one column inside a row (AppendStored).
//   - key: order-preserving, self-delimiting bytes (AppendKey).
//   - packed: a date or datetime as one integer that has the order of time
//     (PackDatetime).
//   - wide: a decimal whose unscaled integer does not fit an int64; narrow: one
//     whose unscaled integer does.
//   - weight: a number that a collation compares instead of a character.
//   - fsp: number of fraction digits of a second, 0 to 6 ("fractional seconds
//     precision").
//   - mark: two bytes before a scalar in a JSON document, see below.
//
// # Invariants
//
//  1. bytes.Compare of two keys of one type has the sign of Compare of their
//     values; no key is a prefix of a different one. ENUM and SET keys order by
//     number, as ORDER BY does, while Compare orders their text, as MIN does.
//  2. Values that Compare finds equal have the same key (−0 and 0, 'a' and 'A' under a
//     _ci collation) and the same hash; for the hash of doubles see Hash64.
//  3. DecodeStored(AppendStored(v)) is v for every v that Convert returned. Where
//     KeyRecoverable says so, DecodeKey(AppendKey(v)) is v.
//  4. RowEncoder.Stored and RowEncoder.Value write the same bytes.
//  5. AppendKey, AppendStored, RowEncoder, Compare and Hash64 do not allocate once
//     their buffers have grown. With UCA collations they may, for characters that are
//     not ASCII, because the library allocates iterators; so may those of JSON and of
//     wide decimals.
//  6. Decoders never panic, whatever the bytes.
//  7. A Value does not own B. A value that is kept longer than its buffer is valid has
//     to be cloned.
//  8. There is no global state besides tables of constants and pools of buffers: all
//     functions are safe for concurrent use. A Context, RowEncoder, Vector, Batch or
//     RegexpMatcher is used by one goroutine at a time.
//
// # Stored form
//
// The row has the lengths, and NULL in its bitmap.
//
//	type                                  bytes
//	TINYINT … BIGINT, DECIMAL(p<=18)      0–8: little-endian two's complement, fewest bytes; 0 has none
//	… UNSIGNED, YEAR, BIT, ENUM, SET      0–8: little-endian, fewest bytes
//	DECIMAL(p>18)                         0–8 as above, or wide: sign byte (0 −, 1 +), big-endian magnitude
//	FLOAT, DOUBLE                         4, 8: little-endian IEEE 754
//	DATE                                  0–3: (year*13+month)*32+day, as an integer
//	DATETIME(f)                           0–8: (date*2^17 + hour*2^12 + minute*2^6 + second) * 10^f + fraction
//	TIMESTAMP(f)                          0–8: units of 10^-f s since 1970 UTC; 0 is the zero timestamp
//	TIME(f)                               0–8: signed units of 10^-f s
//	CHAR, VARCHAR, TEXT                   the characters in the column's set; CHAR without trailing spaces
//	BINARY, VARBINARY, BLOB               the bytes; BINARY at full length
//	JSON                                  normalised text in utf8mb4, with marks
//
// A mark precedes a scalar of a type that JSON does not have. It is the byte 01,
// which is nowhere else in a document, and a letter. It is followed by the scalar as
// clients receive it, who receive the document without its marks:
//
//	01 u  UNSIGNED INTEGER, up to 2^63-1  digits (a larger one has no mark)
//	01 n  DECIMAL                         its digits, with as many behind the point as its scale
//	01 d  DATE                            "2020-01-02"
//	01 t  TIME                            "-10:11:12.500000", always six digits
//	01 D  DATETIME                        "2020-01-02 03:04:05.000000", also six digits
//	01 s  TIMESTAMP                       as DATETIME, in the zone of the session that made it
//	01 o  OPAQUE, BLOB, BIT               "base64:type15:YWI=": the protocol's number of its type, and its bytes
//
// # Key format, version 1 (KeyFormatVersion)
//
// A column is one of the forms below. NULL is the single byte 00, and no other
// form starts with 00. DESC inverts every byte.
//
// Integers, decimals (unscaled at the column's scale), dates and times (the
// integer of the stored form), YEAR, BIT, ENUM and SET share one ordered integer:
//
//	04 ^len ^magnitude…   wide negative; len is the bytes of the magnitude
//	08–0F b…              negative, 8–1 bytes: the low bytes of n, big-endian
//	10–17                 −8 … −1
//	18–97                 0 … 127
//	98–B7 b               128 + 13 bits
//	B8–D7 b b             8320 + 21 bits
//	D8–DD b…              3–8 bytes, big-endian
//	E0 len magnitude…     wide positive
//
// FLOAT and DOUBLE: 01, then eight bytes big-endian: positive numbers with the
// sign bit set, negative ones with all bits inverted; −0 as 0.
//
// A string is its weights and an end. If the first byte would be 00 or 01, another
// 01 precedes it.
//
//	NO PAD (binary, utf8mb4_0900_*)
//	  weights             with 00 written as 00 FF
//	  00 01               end
//	PAD SPACE (all others)
//	  weights             trailing spaces dropped; after each space a byte:
//	    01                the weight after these spaces is less than that of a space
//	    03                … is greater
//	  space 02            end
//
// so that the end of a string is ordered as if infinitely many spaces followed. The
// space is the byte 20, or the collation's weight of it, which has two bytes for the
// UCA. Weights are the bytes themselves for binary and *_bin (for ucs2, utf16 and utf32
// code points in UTF-8), one byte per byte for 8-bit collations, the 16-bit weight
// encoded like UTF-8 for *_general_ci of Unicode, and two bytes per weight for the UCA.
//
// A JSON document is the NO PAD string of its own key, see appendJSONKey.
//
// # Row encoding
//
// StartRow reserves four bytes for the packet header, which wire fills. A text row is
// length-encoded strings, with FB for NULL. A binary row is 00, the NULL bitmap, in
// which column i has bit i+2, and the values that are not NULL.
//
// # Absent on purpose
//
//   - Functions and operators, and the collations of expressions: package expr.
//   - Spatial types.
package types
