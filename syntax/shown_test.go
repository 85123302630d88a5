package syntax

import "testing"

// TestShown: the text of a statement for other users contains no password, in whatever clause and form it was written.
func TestShown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"alter user u identified by 's3cret'", "ALTER USER `u` IDENTIFIED BY <secret>"},
		{"CREATE USER u IDENTIFIED WITH mysql_native_password AS '*S3CRET'", "CREATE USER `u` IDENTIFIED WITH `mysql_native_password` AS <secret>"},
		{"CREATE USER a IDENTIFIED BY 's3cret', b IDENTIFIED BY 's3cret'", "CREATE USER `a` IDENTIFIED BY <secret>, `b` IDENTIFIED BY <secret>"},
		{"ALTER USER u IDENTIFIED BY 's3cret' REPLACE 's3cret'", "ALTER USER `u` IDENTIFIED BY <secret> REPLACE <secret>"},
		{"ALTER USER u IDENTIFIED BY x'733363726574'", "ALTER USER `u` IDENTIFIED BY <secret>"},
		{"ALTER USER u ADD 2 FACTOR IDENTIFIED BY 's3cret'", "ALTER USER `u` ADD 2 FACTOR IDENTIFIED BY <secret>"},
		{"SET PASSWORD FOR u = 's3cret'", "SET PASSWORD FOR `u` = <secret>"},
		{"SET PASSWORD = 's3cret' REPLACE 's3cret'", "SET PASSWORD = <secret> REPLACE <secret>"},
		{"PREPARE p FROM 'ALTER USER u IDENTIFIED BY \\'s3cret\\''", "PREPARE `p` FROM <secret>"},
		{"PREPARE p FROM  @v", "PREPARE p FROM  @v"},
		{"select  's3cret'", "select  's3cret'"},
	} {
		stmt, _, err := Parse(c.text, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := Shown(stmt, c.text); got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.text, got, c.want)
		}
	}
}
