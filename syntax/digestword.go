package syntax

import (
	_ "embed"
	"strings"
	"sync"
)

// recordedKeywords are the words of MySQL's grammar, reserved or not, as information_schema.KEYWORDS of a MySQL 9.7 lists them.
//
//go:embed keywords.txt
var recordedKeywords string

// Keywords lists the words of MySQL's grammar, reserved or not, in alphabetical order.
var Keywords = sync.OnceValue(func() []string { return strings.Fields(recordedKeywords) })

var keywordSet = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range Keywords() {
		set[word] = true
	}
	return set
})

// IsKeyword reports whether a word in upper case is one of MySQL's grammar.
func IsKeyword(word string) bool { return keywordSet()[word] }

// wordsOfCalls are words that are keywords of MySQL's grammar only if a parenthesis follows immediately.
var wordsOfCalls = map[string]bool{"ADDDATE": true, "BIT_AND": true, "BIT_OR": true, "BIT_XOR": true, "CAST": true, "COUNT": true, "CURDATE": true, "CURTIME": true,
	"DATE_ADD": true, "DATE_SUB": true, "EXTRACT": true, "GROUP_CONCAT": true, "JSON_ARRAYAGG": true, "JSON_OBJECTAGG": true, "MAX": true, "MID": true, "MIN": true,
	"NOW": true, "POSITION": true, "SESSION_USER": true, "STD": true, "STDDEV": true, "STDDEV_POP": true, "STDDEV_SAMP": true, "SUBDATE": true, "SUBSTR": true,
	"SUBSTRING": true, "SUM": true, "SYSDATE": true, "SYSTEM_USER": true, "TRIM": true, "VARIANCE": true, "VAR_POP": true, "VAR_SAMP": true}

// sameWords maps words to the synonyms for which MySQL's lexer has the same token, and which its digests print.
var sameWords = map[string]string{"INT1": "TINYINT", "INT2": "SMALLINT", "INT3": "MIDDLEINT", "MEDIUMINT": "MIDDLEINT", "INT4": "INTEGER", "INT": "INTEGER",
	"BIGINT": "INT8", "DEC": "DECIMAL", "FLOAT": "FLOAT4", "DOUBLE": "FLOAT8", "CHAR": "CHARACTER", "VARCHAR": "VARCHARACTER", "COLUMNS": "FIELDS",
	"DATABASE": "SCHEMA", "DATABASES": "SCHEMAS", "DISTINCT": "DISTINCTROW", "REGEXP": "RLIKE", "ANY": "SOME", "SUBSTR": "SUBSTRING", "MID": "SUBSTRING",
	"STD": "STDDEV_POP", "STDDEV": "STDDEV_POP", "VARIANCE": "VAR_POP", "CURRENT_DATE": "CURDATE", "CURRENT_TIME": "CURTIME", "CURRENT_TIMESTAMP": "NOW",
	"LOCALTIME": "NOW", "LOCALTIMESTAMP": "NOW", "SESSION_USER": "SYSTEM_USER", "USER": "SYSTEM_USER", "DESCRIBE": "EXPLAIN", "DAY": "SQL_TSI_DAY",
	"HOUR": "SQL_TSI_HOUR", "MINUTE": "SQL_TSI_MINUTE", "MONTH": "SQL_TSI_MONTH", "QUARTER": "SQL_TSI_QUARTER", "SECOND": "SQL_TSI_SECOND"}

// digestWord returns a keyword as MySQL's digests print it, "" for an identifier. A word next to a dot is an identifier.
func digestWord(sql string, t token) string {
	word := strings.ToUpper(sql[t.pos:t.end])
	next := byte(0)
	if int(t.end) < len(sql) {
		next = sql[t.end]
	}
	switch {
	case next == '.' || t.pos > 0 && sql[t.pos-1] == '.':
		return ""
	case wordsOfCalls[word]:
		if next != '(' {
			return ""
		}
	case !keywordSet()[word]:
		return ""
	}
	return sameWord(word)
}

func sameWord(word string) string {
	if same := sameWords[word]; same != "" {
		return same
	}
	return word
}
