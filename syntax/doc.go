// Package syntax turns SQL text into trees and back. It holds the whole grammar
// of MySQL 8.0, a few statements of TiDB, and nothing of their meaning.
//
// # Place
//
// session hands the text of a command to [Normalize] (for the plan cache) and,
// on a miss, to [Parse]; plan binds the tree; infoschema and catalog print trees
// back with [String]; statement statistics are grouped by [Digest]. The package
// imports only the standard library and is pure: no clock, no goroutine, no
// state beyond a pool of parsers. All functions are safe for concurrent use; a
// [Normalized] belongs to one goroutine.
//
// # Terms
//
// A token is a slice of the statement. A reserved word has a number and can't
// be a name; every other word, keyword or not, is a name to the lexer, and the
// parser compares its text where the grammar gives it meaning. A body is the
// statement inside a trigger, routine or event. A loose statement is kept as a
// list of words, names and expressions ([Loose]); its grammar is a table.
//
// # Reading the source
//
//   - ast*.go: the tree, plain data. Start at [Statement] and [Query].
//   - keyword.go, token.go, lexer*.go, value.go: text to tokens.
//   - parser.go: the machinery of the recursive-descent parser (look-ahead,
//     errors, limits); parse_*.go: a method for each production. parse_expr.go
//     does precedence climbing, parse_statement.go the dispatch by first word.
//   - loose.go interprets loose_table.go, the grammar of rare statements.
//   - print*.go: a method for each production again.
//   - normalize.go, digest.go: work on tokens without a tree.
//
// # Invariants
//
//  1. A tree refers to the text it was parsed from and is never changed by this
//     package; strings in it are decoded, names unquoted.
//  2. Nothing is parsed and dropped. The printed statement, lexed, equals the
//     original's tokens after the normalisation listed at normalTokens in
//     print_test.go. Fields such as TableOption.Equals exist for this alone.
//  3. Printing is a fixed point: Parse(String(t)) prints the same.
//  4. Every error is an [*Error] with the byte offset of the offending token and
//     MySQL's number and message, except for the errors of a [Budget].
//  5. No text makes the parser panic or overflow the stack, and parsing takes
//     time linear in its length: nesting and chains are bounded (options.go), every
//     recursion passes through enter, and only four constructs backtrack (mark,
//     reset), each once: DELETE FROM with USING, a statement that begins with WITH,
//     INSERT ... VALUES ROW, and a long VALUES list that turns out not to consist
//     of literals alone (literal_rows.go).
//  6. Look-ahead never lexes a token twice, except in those four.
//  7. If Normalize accepts two statements and gives equal texts, then the
//     statements differ only in the lifted literals, white space, comments and a
//     final semicolon.
//
// # Decisions
//
// Errors unwind by panic and recover inside Parse. Returning them through three
// hundred productions was the alternative; it doubles the code and costs a test
// after each call on the path that succeeds.
//
// Statements that Pando executes have types of their own. The others go through
// the table of loose_table.go, which costs a line for each statement instead of a
// type, a parser and a printer; they can be given types one at a time.
//
// Words that are not reserved are compared as text instead of being numbered:
// they occur in statements where microseconds do not matter, and a table of
// seven hundred constants would have to be kept in step with the grammar.
//
// # Absent on purpose
//
// Name resolution, types and constant folding (plan); the meaning of hints,
// which are kept as text; sql_mode beyond the flags of [Options]; Oracle mode;
// MariaDB's extensions; character sets other than UTF-8 in the text itself,
// which session converts before parsing.
package syntax
