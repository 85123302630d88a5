INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)
INSERT INTO sbtest1(k, c, pad) VALUES(1, 'a-b', 'c'),(2, 'd', 'e'),(-3, 'f', NULL)
UPDATE sbtest1 SET k=k+1 WHERE id=?
UPDATE sbtest1 SET c=? WHERE id=?
DELETE FROM sbtest1 WHERE id=?
insert t values (1), (default), (default(a)), (a + 1, now())
insert into t () values ()
insert into t values (), ()
insert into db.t (t.a, db.t.b, c) value (1, 2, 3)
insert low_priority ignore into t partition (p0, p1) (a) values (1)
insert delayed into t values (1)
insert high_priority t values (1)
insert into t set a = 1, b = default
insert into t set a = 1 as n on duplicate key update b = n.a
insert into t (a, b) values (1, 2) as n(x, y) on duplicate key update a = n.x, b = values(b) + 1
insert into t values row(1, 2), row(3, 4)
insert into t values row(1, 2) union select 3, 4
insert into t select * from u
insert into t (a) select b from u on duplicate key update a = 1
insert into t (select 1)
insert into t ((select 1))
insert into t (a) (select 1) union (select 2)
insert into t (a) with c as (select 1) select * from c
insert into t table u
insert /*+ SET_VAR(foreign_key_checks=OFF) */ into t values (1)
replace into t values (1)
replace low_priority t (a) values (1)
replace delayed into t set a = 1
replace into t partition (p) select 1
update low_priority ignore t set a = 1, t.b = default where c order by d desc limit 5
update t as x set x.a = 1
update t join u on t.a = u.a set t.b = u.b, u.c = 1 where t.d = 1
update t, (select 1 as a) u set t.a = u.a
update t partition (p0) set a = 1
update t set a = (select max(b) from u), c = c + 1 limit ?
update /*+ NO_MERGE(t) */ t set a := 1
delete from t
delete low_priority quick ignore from t where a order by b limit 1
delete from t as x where x.a = 1
delete from t x partition (p0, p1) where a = 1
delete t, u from t join u on t.a = u.a where t.b = 1
delete t.*, db.u.* from t, db.u
delete from t using t join u on t.a = u.a
delete from t.*, u using t, u where t.a = u.a
delete from db.t where a = 1
delete quick from t
load data infile '/x' replace into table t
load data low_priority local infile '/x' ignore into table db.t partition (p0) character set latin1 columns terminated by ',' enclosed by '"' escaped by '' lines starting by 'x' terminated by '\r\n' ignore 1 lines (a, @b, c) set d = @b + 1, e = default
load data concurrent infile 'f' into table t ignore 2 rows ()
load xml local infile 'f' into table t rows identified by '<r>' (a)
call p
call db.p()
call p(1, @a, (select 1))
do 1, sleep(1), @a := 2
