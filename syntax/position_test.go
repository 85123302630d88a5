package syntax

import "testing"

// TestItemSpans checks the spans that column names come from, and those of
// bodies that the catalogue keeps.
func TestItemSpans(t *testing.T) {
	sql := "select  a +  1 , count( * ) as n, 'x' , t . * , (select 1) from t"
	stmt, _, err := Parse(sql, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a +  1", "count( * )", "'x'", "t . *", "(select 1)"}
	items := stmt.(*Query).Body.(*Select).Items
	if len(items) != len(want) {
		t.Fatalf("%d items", len(items))
	}
	for i, item := range items {
		if got := sql[item.Start:item.End]; got != want[i] {
			t.Errorf("item %d spans %q, want %q", i, got, want[i])
		}
	}

	sql = "create view v as select 1 union  select 2 with check option"
	stmt, _, err = Parse(sql, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := stmt.(*CreateView)
	if got := sql[v.QueryStart:v.QueryEnd]; got != "select 1 union  select 2" {
		t.Errorf("view spans %q", got)
	}

	sql = "create trigger t before insert on x for each row begin set new.a = 1; end; select 1"
	stmt, rest, err := Parse(sql, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr := stmt.(*CreateTrigger)
	if got := sql[tr.BodyStart:tr.BodyEnd]; got != "begin set new.a = 1; end" || rest != " select 1" {
		t.Errorf("body spans %q, rest %q", got, rest)
	}
}

// TestStarts checks the start offset of every kind of expression.
func TestStarts(t *testing.T) {
	for _, sql := range []string{
		"a + 1", "a in (1)", "a like 'x'", "a is null", "a between 1 and 2", "a regexp 'x'", "a collate utf8mb4_bin",
		"-a", "not a", "(a)", "f(a)", "count(a)", "case a when 1 then 2 end", "cast(a as char)", "@a", "@@a",
		"_latin1'x'", "date '2020-01-01'", "exists (select 1)", "a = any (select 1)", "row(1, 2)", "trim(a)",
	} {
		x, err := ParseExpr("  "+sql, Options{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if x.Start() != 2 {
			t.Errorf("%s starts at %d", sql, x.Start())
		}
	}
}
