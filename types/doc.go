// Package types holds MySQL's values: kinds, column types, comparison,
// collation, conversion, arithmetic on decimals and dates, sort keys, the stored
// form of columns and the protocol's encodings.
package types
