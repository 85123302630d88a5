package tests

import (
	"bytes"
	encoding "encoding/binary"
	"testing"
)

// prepare makes a statement without parameters and returns its number.
func (c *rawClient) prepare(text string) []byte {
	c.t.Helper()
	head := c.command(append([]byte{0x16}, text...)...)
	if len(head) < 9 || head[0] != 0 {
		c.t.Fatalf("PREPARE %s: %q", text, head)
	}
	if columns := int(encoding.LittleEndian.Uint16(head[5:])); columns > 0 {
		for range columns + 1 {
			c.read()
		}
	}
	return head[1:5]
}

// rows reads rows up to the EOF packet, and returns them and its status.
func (c *rawClient) rows(first []byte) (rows [][]byte, status uint16) {
	c.t.Helper()
	for p := first; ; p = c.read() {
		if len(p) == 5 && p[0] == 0xfe {
			return rows, encoding.LittleEndian.Uint16(p[3:])
		}
		if number(p) != 0 {
			c.t.Fatalf("after %d rows: %q", len(rows), p)
		}
		rows = append(rows, p)
	}
}

// execute runs a statement with the flags of a cursor and returns the first packet of the answer.
func (c *rawClient) execute(id []byte, flags byte) []byte {
	c.t.Helper()
	return c.command(append(append([]byte{0x17}, id...), flags, 1, 0, 0, 0)...)
}

// open runs a query that opens a cursor, and returns the status behind its columns.
func (c *rawClient) open(id []byte) uint16 {
	c.t.Helper()
	head := c.execute(id, 1)
	if number(head) != 0 || len(head) != 1 {
		c.t.Fatalf("EXECUTE with a cursor: %q", head)
	}
	columns, status := c.rows(c.read())
	if len(columns) != int(head[0]) {
		c.t.Errorf("%d columns, want %d", len(columns), head[0])
	}
	return status
}

func (c *rawClient) fetch(id []byte, rows byte) []byte {
	c.t.Helper()
	return c.command(append(append([]byte{0x1c}, id...), rows, 1, 0, 0)...) // 256 more than rows
}

// TestCursors: a client that asks for a cursor gets the rows in the parts that it asks for, as they were when it was opened.
func TestCursors(t *testing.T) {
	const rows, part = 1000, 256 + 44
	const exists, last = 0x40, 0x80
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v TEXT)", "CREATE TABLE d.empty (id INT PRIMARY KEY)")
	mustExec(t, db, "INSERT INTO d.t (v) VALUES (REPEAT('x', 500)), (NULL), ('ä'), (''), ('five')")
	for range 199 {
		mustExec(t, db, "INSERT INTO d.t (v) SELECT v FROM d.t ORDER BY id LIMIT 5")
	}
	c := n.login()
	id := c.prepare("SELECT v, id FROM d.t ORDER BY id")
	if head := c.execute(id, 0); len(head) != 1 || head[0] != 2 {
		t.Fatalf("EXECUTE: %q", head)
	}
	c.rows(c.read())
	want, _ := c.rows(c.read())
	if len(want) != rows {
		t.Fatalf("%d rows", len(want))
	}

	if status := c.open(id); status&exists == 0 {
		t.Errorf("status %#x of an open cursor", status)
	}
	mustExec(t, db, "DELETE FROM d.t WHERE id > 500")
	c.alive()
	var got [][]byte
	for {
		some, status := c.rows(c.fetch(id, part-256))
		got = append(got, some...)
		if status&last != 0 {
			if status&exists != 0 || len(some) == part {
				t.Errorf("status %#x behind the last %d rows", status, len(some))
			}
			break
		}
		if status&exists == 0 || len(some) != part {
			t.Fatalf("%d rows, status %#x", len(some), status)
		}
	}
	if len(got) != rows {
		t.Fatalf("%d rows fetched", len(got))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
	if no := number(c.fetch(id, 1)); no != 1421 {
		t.Errorf("a fetch behind the last row: error %d", no)
	}

	for name, end := range map[string]func(){
		"RESET":            func() { c.command(append([]byte{0x1a}, id...)...) },
		"EXECUTE":          func() { c.execute(id, 0); c.rows(c.read()); c.rows(c.read()) },
		"RESET_CONNECTION": func() { c.command(0x1f); id = c.prepare("SELECT v, id FROM d.t ORDER BY id") },
	} {
		c.open(id)
		if some, _ := c.rows(c.fetch(id, 0)); len(some) != 256 {
			t.Errorf("%d rows of a cursor that was opened again", len(some))
		}
		end()
		if no := number(c.fetch(id, 1)); no != 1421 {
			t.Errorf("after %s a fetch gets error %d", name, no)
		}
	}

	none := c.prepare("SELECT id FROM d.empty")
	c.open(none)
	if some, status := c.rows(c.fetch(none, 1)); len(some) != 0 || status&last == 0 {
		t.Errorf("%d rows, status %#x of an empty table", len(some), status)
	}
	show := c.prepare("SHOW DATABASES LIKE 'd'")
	c.open(show)
	if some, _ := c.rows(c.fetch(show, 1)); len(some) != 1 {
		t.Errorf("%d rows of SHOW", len(some))
	}
	if ok := c.execute(c.prepare("INSERT INTO d.empty VALUES (1)"), 1); len(ok) == 0 || ok[0] != 0 {
		t.Errorf("an INSERT with a cursor: %q", ok)
	}

	if ok := c.command(append([]byte{3}, "SET tidb_mem_quota_query = 100000"...)...); number(ok) != 0 {
		t.Fatalf("%q", ok)
	}
	large := c.prepare("SELECT REPEAT('x', 1000) FROM d.t")
	if no := number(c.execute(large, 1)); no != 8175 {
		t.Errorf("a cursor beyond the memory of a statement: error %d", no)
	}
	if no := number(c.fetch(large, 1)); no != 1421 {
		t.Errorf("a fetch of a cursor that was not opened: error %d", no)
	}
	c.open(none) // what it had is given back
}
