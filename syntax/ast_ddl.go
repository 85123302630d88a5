package syntax

// TypeKind is MySQL's data type, whatever its spelling.
type TypeKind uint8

// The data types. TypeBool is TINYINT(1) by another name; TypeSerial is
// BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
const (
	TypeNone TypeKind = iota
	TypeTinyInt
	TypeSmallInt
	TypeMediumInt
	TypeInt
	TypeBigInt
	TypeBool
	TypeSerial
	TypeFloat
	TypeDouble
	TypeDecimal
	TypeBit
	TypeDate
	TypeTime
	TypeDatetime
	TypeTimestamp
	TypeYear
	TypeChar
	TypeVarchar
	TypeBinary
	TypeVarbinary
	TypeTinyBlob
	TypeBlob
	TypeMediumBlob
	TypeLongBlob
	TypeTinyText
	TypeText
	TypeMediumText
	TypeLongText
	TypeEnum
	TypeSet
	TypeJSON
	TypeGeometry
	TypePoint
	TypeLineString
	TypePolygon
	TypeMultiPoint
	TypeMultiLineString
	TypeMultiPolygon
	TypeGeomCollection
	TypeSigned   // CAST only.
	TypeUnsigned // CAST only.
	TypeVector
)

// DataType is a column's, cast's or routine parameter's type. Length and Scale
// are -1 when not written; TIME(6) has Length 6.
type DataType struct {
	Pos      Pos
	Kind     TypeKind
	Spelling string // Upper case, as written: INTEGER, DOUBLE PRECISION, NATIONAL CHAR VARYING...
	Length   int64
	Scale    int64
	Unsigned bool
	Signed   bool // The word SIGNED was written (it means nothing).
	Zerofill bool
	National bool // N-types: character set utf8mb3.
	Binary   bool // The BINARY attribute of a character type.
	ASCII    bool
	Unicode  bool
	Byte     bool // CHAR BYTE.
	Charset  string
	Collate  string
	Elems    []*Literal // ENUM and SET.
	// CharsetWord is CHARSET, CHARACTER SET or CHAR SET; BinaryFirst says that BINARY
	// preceded it. Both serve the printer only.
	CharsetWord string
	BinaryFirst bool
	Attrs       []string // UNSIGNED, SIGNED, ZEROFILL in the order written, for the printer.
}

// DatabaseOption is one option of CREATE or ALTER DATABASE.
type DatabaseOption struct {
	Kind    string // CHARACTER SET, CHARSET, COLLATE, ENCRYPTION, READ ONLY.
	Default bool   // The word DEFAULT was written.
	Equals  bool
	Value   string
	IsStr   bool // The value was a quoted string.
}

// CreateDatabase is CREATE DATABASE|SCHEMA.
type CreateDatabase struct {
	Pos         Pos
	Schema      bool
	IfNotExists bool
	Name        Ident
	Options     []DatabaseOption
}

// AlterDatabase is ALTER DATABASE|SCHEMA. Name is empty for the current one.
type AlterDatabase struct {
	Pos     Pos
	Schema  bool
	Name    Ident
	Options []DatabaseOption
}

// DropDatabase is DROP DATABASE|SCHEMA.
type DropDatabase struct {
	Pos      Pos
	Schema   bool
	IfExists bool
	Name     Ident
}

// Use is USE db.
type Use struct {
	Pos  Pos
	Name Ident
}

// CreateTable is CREATE TABLE. Elements is nil when only LIKE or a query
// describes the table.
type CreateTable struct {
	Pos         Pos
	Temporary   bool
	IfNotExists bool
	Name        ObjectName
	Like        *ObjectName
	LikeParen   bool
	Elements    []TableElement
	Options     []TableOption
	Partition   *PartitionBy
	OnConflict  string // IGNORE or REPLACE before AS query; empty when absent.
	AsWord      bool
	Query       *Query
	QueryParen  bool
}

// TableElement is *ColumnDef, *KeyDef or *CheckDef.
type TableElement interface {
	Node
	tableElement()
}

// ColumnDef is a column of CREATE or ALTER TABLE.
type ColumnDef struct {
	Pos     Pos
	Name    Ident
	Type    DataType
	Options []ColumnOption
}

// ColumnOptionKind is the kind of a column attribute.
type ColumnOptionKind uint8

// The column attributes.
const (
	ColNotNull ColumnOptionKind = iota
	ColNull
	ColDefault  // Expr; Paren when written in parentheses.
	ColOnUpdate // Expr: CURRENT_TIMESTAMP and its synonyms.
	ColAutoIncrement
	ColUnique     // Word: UNIQUE or UNIQUE KEY.
	ColPrimary    // Word: PRIMARY KEY or KEY.
	ColComment    // Expr is the literal.
	ColCollate    // Word is the collation.
	ColFormat     // Word: FIXED, DYNAMIC, DEFAULT.
	ColStorage    // Word: DISK, MEMORY, DEFAULT.
	ColGenerated  // Expr, Stored, Always, and Word: VIRTUAL, STORED or empty.
	ColCheck      // Check.
	ColReferences // Ref.
	ColVisible
	ColInvisible
	ColEngineAttr    // Expr is the literal; Equals.
	ColSecondaryAttr // Expr is the literal; Equals.
	ColSRID          // Expr is the literal.
	ColSerialDefault // SERIAL DEFAULT VALUE
	ColClustered     // TiDB: PRIMARY KEY CLUSTERED; follows ColPrimary.
	ColNonclustered
	ColAutoRandom // TiDB: AUTO_RANDOM[(bits)]; Expr is the literal or nil.
	ColNotSecondary
)

// ColumnOption is one attribute of a column, in the order written.
type ColumnOption struct {
	Pos    Pos
	Kind   ColumnOptionKind
	Expr   Expr
	Word   string
	Always bool // GENERATED ALWAYS was written before AS.
	Equals bool
	Check  *CheckDef
	Ref    *References
}

// KeyKind is the kind of a key.
type KeyKind uint8

// The kinds of keys.
const (
	KeyIndex KeyKind = iota
	KeyPrimary
	KeyUnique
	KeyFulltext
	KeySpatial
	KeyForeign
)

// KeyDef is a key, index or foreign key of CREATE or ALTER TABLE.
type KeyDef struct {
	Pos           Pos
	HasConstraint bool
	Constraint    string // Empty for the bare word CONSTRAINT.
	Kind          KeyKind
	Word          string // INDEX, KEY or empty, after the kind.
	Name          string
	NamePos       Pos
	UsingFirst    string // USING BTREE written before the columns.
	TypeWord      bool   // UsingFirst was introduced by TYPE.
	Parts         []KeyPart
	Options       []IndexOption
	Ref           *References // Foreign keys only.
}

// KeyPart is a column with optional prefix length, or an expression.
type KeyPart struct {
	Column Ident
	Length int64 // -1 when absent.
	Expr   Expr
	Order  Direction
}

// IndexOption is one option of an index. Kind is USING, TYPE, KEY_BLOCK_SIZE,
// WITH PARSER, COMMENT, VISIBLE, INVISIBLE, ENGINE_ATTRIBUTE,
// SECONDARY_ENGINE_ATTRIBUTE, CLUSTERED, NONCLUSTERED or GLOBAL.
type IndexOption struct {
	Kind   string
	Equals bool
	Word   string
	Value  Expr
}

// References is the REFERENCES clause of a foreign key.
type References struct {
	Pos      Pos
	Table    ObjectName
	Columns  []KeyPart
	Match    string // FULL, PARTIAL, SIMPLE or empty.
	OnDelete string // RESTRICT, CASCADE, SET NULL, NO ACTION, SET DEFAULT or empty.
	OnUpdate string
	// UpdateFirst says that ON UPDATE was written before ON DELETE.
	UpdateFirst bool
}

// CheckDef is CHECK (expr), of a column or a table.
type CheckDef struct {
	Pos           Pos
	HasConstraint bool
	Constraint    string
	Expr          Expr
	Enforced      string // ENFORCED, NOT ENFORCED or empty.
}

// TableOption is one option of a table: ENGINE, AUTO_INCREMENT, CHARSET,
// COLLATE, COMMENT, ROW_FORMAT... Kind is upper case, as written, for instance
// CHARSET or CHARACTER SET. Exactly one of Word, Value, Tables is used.
type TableOption struct {
	Pos     Pos
	Default bool // The word DEFAULT was written first.
	Kind    string
	Equals  bool
	Word    string // A bare word or name.
	Value   Expr   // A number or string.
	Tables  []ObjectName
	Comma   bool // A comma preceded this option.
	Storage string
}

// PartitionBy is the PARTITION BY clause.
type PartitionBy struct {
	Pos      Pos
	Method   PartitionMethod
	Parts    *Literal // PARTITIONS n.
	Sub      *PartitionMethod
	SubParts *Literal
	Defs     []PartitionDef
	HasDefs  bool
}

// PartitionMethod is HASH(expr), KEY(columns), RANGE and LIST, with or
// without COLUMNS.
type PartitionMethod struct {
	Kind      string // HASH, KEY, RANGE, LIST.
	Linear    bool
	Columns   []Ident // KEY, RANGE COLUMNS, LIST COLUMNS.
	IsColumns bool
	Expr      Expr
	Algorithm *Literal // KEY ALGORITHM=n.
}

// PartitionDef is one partition.
type PartitionDef struct {
	Name     Ident
	LessThan []Expr // VALUES LESS THAN (...).
	MaxValue bool   // VALUES LESS THAN MAXVALUE without parentheses.
	InRows   []Expr // VALUES IN (...).
	Options  []TableOption
	Subs     []PartitionDef
}

// MaxValue is the word MAXVALUE in a list of partition bounds.
type MaxValue struct{ Pos Pos }

// CreateIndex is CREATE [UNIQUE|FULLTEXT|SPATIAL] INDEX.
type CreateIndex struct {
	Pos         Pos
	IfNotExists bool
	Table       ObjectName
	Key         KeyDef
	Algorithm   []AlterSpec // ALGORITHM and LOCK, in the order written.
}

// DropIndex is DROP INDEX name ON table.
type DropIndex struct {
	Pos       Pos
	IfExists  bool
	Name      Ident
	Table     ObjectName
	Algorithm []AlterSpec
}

// DropTable is DROP TABLE.
type DropTable struct {
	Pos       Pos
	Temporary bool
	Plural    bool // TABLES was written.
	IfExists  bool
	Tables    []ObjectName
	Behaviour string // RESTRICT, CASCADE or empty.
}

// TruncateTable is TRUNCATE [TABLE].
type TruncateTable struct {
	Pos   Pos
	Word  bool // TABLE was written.
	Table ObjectName
}

// RenameTable is RENAME TABLE a TO b, ....
type RenameTable struct {
	Pos    Pos
	Plural bool
	Pairs  []RenamePair
}

// RenamePair is one a TO b.
type RenamePair struct{ From, To ObjectName }
