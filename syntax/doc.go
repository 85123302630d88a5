// Package syntax turns SQL text into trees and back: lexer, parser, printer,
// normaliser and digests for the grammar of MySQL 8.
package syntax
