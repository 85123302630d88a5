package syntax

import "strings"

// keyword identifies a reserved word of MySQL 8.0. Words that are not reserved
// are ordinary identifiers to the lexer; the parser compares their text where
// the grammar gives them meaning.
type keyword uint16

// The reserved words, in the order of reservedWords (a test compares the two).
const (
	kwNone keyword = iota
	kwAccessible
	kwAdd
	kwAll
	kwAlter
	kwAnalyze
	kwAnd
	kwAs
	kwAsc
	kwAsensitive
	kwBefore
	kwBetween
	kwBigint
	kwBinary
	kwBlob
	kwBoth
	kwBy
	kwCall
	kwCascade
	kwCase
	kwChange
	kwChar
	kwCharacter
	kwCheck
	kwCollate
	kwColumn
	kwCondition
	kwConstraint
	kwContinue
	kwConvert
	kwCreate
	kwCross
	kwCube
	kwCumeDist
	kwCurrentDate
	kwCurrentTime
	kwCurrentTimestamp
	kwCurrentUser
	kwCursor
	kwDatabase
	kwDatabases
	kwDayHour
	kwDayMicrosecond
	kwDayMinute
	kwDaySecond
	kwDec
	kwDecimal
	kwDeclare
	kwDefault
	kwDelayed
	kwDelete
	kwDenseRank
	kwDesc
	kwDescribe
	kwDeterministic
	kwDistinct
	kwDistinctrow
	kwDiv
	kwDouble
	kwDrop
	kwDual
	kwEach
	kwElse
	kwElseif
	kwEmpty
	kwEnclosed
	kwEscaped
	kwExcept
	kwExists
	kwExit
	kwExplain
	kwFalse
	kwFetch
	kwFirstValue
	kwFloat
	kwFloat4
	kwFloat8
	kwFor
	kwForce
	kwForeign
	kwFrom
	kwFulltext
	kwFunction
	kwGenerated
	kwGet
	kwGrant
	kwGroup
	kwGrouping
	kwGroups
	kwHaving
	kwHighPriority
	kwHourMicrosecond
	kwHourMinute
	kwHourSecond
	kwIf
	kwIgnore
	kwIn
	kwIndex
	kwInfile
	kwInner
	kwInout
	kwInsensitive
	kwInsert
	kwInt
	kwInt1
	kwInt2
	kwInt3
	kwInt4
	kwInt8
	kwInteger
	kwIntersect
	kwInterval
	kwInto
	kwIoAfterGtids
	kwIoBeforeGtids
	kwIs
	kwIterate
	kwJoin
	kwJsonTable
	kwKey
	kwKeys
	kwKill
	kwLag
	kwLastValue
	kwLateral
	kwLead
	kwLeading
	kwLeave
	kwLeft
	kwLike
	kwLimit
	kwLinear
	kwLines
	kwLoad
	kwLocaltime
	kwLocaltimestamp
	kwLock
	kwLong
	kwLongblob
	kwLongtext
	kwLoop
	kwLowPriority
	kwMasterBind
	kwMasterSslVerifyServerCert
	kwMatch
	kwMaxvalue
	kwMediumblob
	kwMediumint
	kwMediumtext
	kwMiddleint
	kwMinuteMicrosecond
	kwMinuteSecond
	kwMod
	kwModifies
	kwNatural
	kwNot
	kwNoWriteToBinlog
	kwNthValue
	kwNtile
	kwNull
	kwNumeric
	kwOf
	kwOn
	kwOptimize
	kwOptimizerCosts
	kwOption
	kwOptionally
	kwOr
	kwOrder
	kwOut
	kwOuter
	kwOutfile
	kwOver
	kwPartition
	kwPercentRank
	kwPrecision
	kwPrimary
	kwProcedure
	kwPurge
	kwRange
	kwRank
	kwRead
	kwReads
	kwReadWrite
	kwReal
	kwRecursive
	kwReferences
	kwRegexp
	kwRelease
	kwRename
	kwRepeat
	kwReplace
	kwRequire
	kwResignal
	kwRestrict
	kwReturn
	kwRevoke
	kwRight
	kwRlike
	kwRow
	kwRows
	kwRowNumber
	kwSchema
	kwSchemas
	kwSecondMicrosecond
	kwSelect
	kwSensitive
	kwSeparator
	kwSet
	kwShow
	kwSignal
	kwSmallint
	kwSpatial
	kwSpecific
	kwSql
	kwSqlexception
	kwSqlstate
	kwSqlwarning
	kwSqlBigResult
	kwSqlCalcFoundRows
	kwSqlSmallResult
	kwSsl
	kwStarting
	kwStored
	kwStraightJoin
	kwSystem
	kwTable
	kwTerminated
	kwThen
	kwTinyblob
	kwTinyint
	kwTinytext
	kwTo
	kwTrailing
	kwTrigger
	kwTrue
	kwUndo
	kwUnion
	kwUnique
	kwUnlock
	kwUnsigned
	kwUpdate
	kwUsage
	kwUse
	kwUsing
	kwUtcDate
	kwUtcTime
	kwUtcTimestamp
	kwValues
	kwVarbinary
	kwVarchar
	kwVarcharacter
	kwVarying
	kwVirtual
	kwWhen
	kwWhere
	kwWhile
	kwWindow
	kwWith
	kwWrite
	kwXor
	kwYearMonth
	kwZerofill
	kwEnd
)

// reservedWords lists the reserved words of MySQL 8.0 in alphabetical order.
const reservedWords = `
ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH
BY CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE
CONVERT CREATE CROSS CUBE CUME_DIST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER
CURSOR DATABASE DATABASES DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE
DEFAULT DELAYED DELETE DENSE_RANK DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE
DROP DUAL EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS EXIT EXPLAIN FALSE FETCH
FIRST_VALUE FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GET GRANT
GROUP GROUPING GROUPS HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE
IN INDEX INFILE INNER INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT
INTERVAL INTO IO_AFTER_GTIDS IO_BEFORE_GTIDS IS ITERATE JOIN JSON_TABLE KEY KEYS KILL LAG
LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD LOCALTIME
LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MASTER_BIND
MASTER_SSL_VERIFY_SERVER_CERT MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT
MINUTE_MICROSECOND MINUTE_SECOND MOD MODIFIES NATURAL NOT NO_WRITE_TO_BINLOG NTH_VALUE NTILE
NULL NUMERIC OF ON OPTIMIZE OPTIMIZER_COSTS OPTION OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER
PARTITION PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE RANGE RANK READ READS READ_WRITE REAL
RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL RESTRICT RETURN
REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE
SEPARATOR SET SHOW SIGNAL SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING
SQL_BIG_RESULT SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING STORED STRAIGHT_JOIN SYSTEM
TABLE TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE
UNLOCK UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR
VARCHARACTER VARYING VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR YEAR_MONTH ZEROFILL`

// keywordSlots is the size of the hash table; less than a sixth of it is used, so
// that the lookup of most identifiers that are not keywords ends at an empty slot.
const keywordSlots = 2048

var (
	keywordNames [kwEnd]string
	keywordTable [keywordSlots]keyword
)

func init() {
	id := kwNone
	for _, word := range strings.Fields(reservedWords) {
		id++
		keywordNames[id] = word
		slot := keywordHash(word) % keywordSlots
		for keywordTable[slot] != kwNone {
			slot = (slot + 1) % keywordSlots
		}
		keywordTable[slot] = id
	}
	if id+1 != kwEnd {
		panic("syntax: reservedWords and the keyword constants disagree")
	}
}

// keywordHash hashes a word without regard to the case of ASCII letters. It
// looks at the length and four letters only; lookups compare the whole word.
func keywordHash(s string) uint32 {
	n := len(s)
	h := uint32(s[0]|0x20) | uint32(s[n>>1]|0x20)<<8 | uint32(s[n-1]|0x20)<<16 | uint32(s[n>>2]|0x20)<<24
	return (h + uint32(n)*0x1000193) * 0x9E3779B1 >> 13
}

// keywordLongest is the length of MASTER_SSL_VERIFY_SERVER_CERT.
const keywordLongest = 29

// lookupKeyword finds the reserved word that s spells, or kwNone.
func lookupKeyword(s string) keyword {
	if len(s) < 2 || len(s) > keywordLongest {
		return kwNone
	}
	slot := keywordHash(s) % keywordSlots
	for {
		id := keywordTable[slot]
		if id == kwNone || foldEqual(s, keywordNames[id]) {
			return id
		}
		slot = (slot + 1) % keywordSlots
	}
}

// foldEqual reports whether s equals the upper-case word, ignoring the case of
// ASCII letters.
func foldEqual(s, upper string) bool {
	if len(s) != len(upper) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != upper[i] {
			return false
		}
	}
	return true
}

// IsReserved reports whether word is reserved in MySQL 8.0, so that it must be
// quoted to serve as an identifier.
func IsReserved(word string) bool { return lookupKeyword(word) != kwNone }
