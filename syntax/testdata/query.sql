SELECT c FROM sbtest1 WHERE id=?
SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?
SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?
SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c
SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c
SELECT count(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?
SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?, ?)
SELECT AVG(id) FROM (SELECT * FROM sbtest1 FORCE KEY (PRIMARY) LIMIT 10) t
SELECT COUNT(*) FROM (SELECT * FROM sbtest1 WHERE k LIKE '%0%' LIMIT 10) t
select @@version_comment limit 1
select DATABASE(), USER() limit 1
SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client
select 1
select 1;
select 1 a, 2 as b, 3 as 'c d', 4 "e"
select t.*, db.t.*, t.a, db.t.a from t
select all a from t
select distinctrow a from t
select high_priority straight_join sql_small_result sql_big_result sql_buffer_result sql_no_cache sql_calc_found_rows a from t
select 1 from dual
select 1 from dual where 1
select a from t where a = 1 and b = 2 or c = 3 xor d = 4
select not a, ! a, not not a, - - a, ~a, +a, -a from t
select a && b || c, a != b, a <> b, a <=> b, a < b, a <= b, a > b, a >= b from t
select a + b - c * d / e % f div g mod h ^ i & j | k << l >> m from t
select a is null, a is not null, a is true, a is not false, a is unknown, a is not unknown from t
select a in (1), a not in (1, 2), a in (select 1), a not in (select b from u), (a, b) in (select 1, 2) from t
select a in ((select 1))
select a between 1 and 2, a not between 1 and 2 and 3 from t
select a like 'x', a not like 'x%' escape '|', a regexp 'x', a not rlike 'y', a sounds like b from t
select a = any (select 1), a > all (select 2), a <> some (select 3), a = (select 4) from t
select exists (select 1), not exists (select 1 from t)
select case when a then b end, case a when 1 then 2 when 3 then 4 else 5 end from t
select cast(a as signed), cast(a as unsigned integer), cast(a as char), cast(a as char(10) character set utf8mb4) from t
select cast(a as binary(3)), cast(a as date), cast(a as datetime(6)), cast(a as time), cast(a as year), cast(a as json), cast(a as float), cast(a as double), cast(a as real), cast(a as decimal), cast(a as decimal(5)) from t
select cast('2020-01-01' at time zone 'UTC' as datetime), cast(ts at time zone interval '+00:00' as datetime(2)) from t
select cast(a->'$.x' as unsigned array) from t
select convert(a, signed), convert(a using utf8mb4), convert('a', char(3))
select binary a, binary 'x' = 'X', a collate utf8mb4_bin, 'x' collate binary from t
select date '2020-01-01', time '10:00:00', timestamp '2020-01-01 00:00:00', {d '2020-01-01'}, {t '10:00:00'}, {ts '2020-01-01 00:00:00'}, {fn now()}
select date(a), time(a), timestamp(a), timestamp(a, b), year(a), month(a), day(a), hour(a), minute(a), second(a), week(a), quarter(a), microsecond(a) from t
select now(), now(6), current_timestamp, current_timestamp(), current_timestamp(3), curdate(), current_date, current_date(), curtime(), current_time, current_time(2), localtime, localtimestamp(), utc_date, utc_date(), utc_time(3), utc_timestamp, sysdate(), sysdate(3)
select current_user, current_user(), user(), session_user(), system_user(), database(), schema()
select a + interval 1 day, interval 1 hour + a, a - interval '1:2' hour_minute, date_add(a, interval (1) day), date_sub(a, interval b + 1 month), adddate(a, 3), subdate(a, interval 2 week), a + interval (1) + 2 day from t
select interval(1, 2, 3), timestampadd(month, 1, a), timestampdiff(sql_tsi_day, a, b), get_format(date, 'USA'), get_format(datetime, 'ISO') from t
select extract(day_microsecond from a), extract(year_month from b) from t
select substring('abc', 2), substring('abc' from 2), substring('abc' from 2 for 1), substr('abc', 1, 2), substr('abc' from 1), mid('abc', 1, 1), position('a' in 'abc')
select trim(a), trim('x' from a), trim(leading 'x' from a), trim(trailing from a), trim(both from a), ltrim(a), rtrim(a) from t
select char(77, 78), char(77 using utf8mb4), char(65, 66 using binary), ascii('a'), ord('b'), if(a, b, c), ifnull(a, b), nullif(a, b), coalesce(a, b, c) from t
select left(a, 1), right(a, 2), repeat('x', 3), replace(a, 'x', 'y'), insert(a, 1, 2, 'x'), mod(a, 2), truncate(a, 2), format(a, 2), reverse(a) from t
select weight_string('a'), weight_string('a' as char(3)), weight_string('a' as binary(4)), json_value(a, '$.x'), json_value(a, '$.x' returning unsigned null on empty error on error), json_value(a, '$.x' returning char(10) default 'q' on empty) from t
select a->'$.x', a->>'$.y[0]', t.a->'$', json_extract(a, '$.x'), 1 member of (a), 'x' member of (a->'$.t'), 1 member (a) from t
select count(*), count(a), count(all a), count(distinct a), count(distinct a, b), sum(distinct a), avg(a), min(a), max(distinct a), std(a), stddev(a), stddev_pop(a), stddev_samp(a), variance(a), var_pop(a), var_samp(a), bit_and(a), bit_or(a), bit_xor(a), json_arrayagg(a), json_objectagg(a, b), st_collect(a) from t
select group_concat(a), group_concat(distinct a, b order by a asc, b desc separator '; ') from t group by c with rollup having count(*) > 1
select any_value(a), grouping(a) from t group by a, b with rollup
select a from t group by rollup(a, b)
select row_number() over w, rank() over (), dense_rank() over (order by a), percent_rank() over w, cume_dist() over w, ntile(4) over w, lag(a) over w, lag(a, 1) ignore nulls over w, lead(a, 1, 0) respect nulls over w, first_value(a) over w, last_value(a) over w, nth_value(a, 2) from first over w, nth_value(a, 2) from last over w from t window w as (order by b)
select sum(a) over (partition by b, c order by d desc rows unbounded preceding), avg(a) over (w rows between current row and 3 following), max(a) over (order by b range between interval 1 day preceding and unbounded following), count(*) over (groups current row exclude ties) from t window w as (partition by x), w2 as (w)
select match(a, b) against ('x'), match a against ('x' in boolean mode), match (a) against ('x' in natural language mode), match (a) against ('x' in natural language mode with query expansion), match (a) against ('x' with query expansion) from t
select (a, b) = (1, 2), row(1, 2) < row(3, 4), (a), ((a)), ((select 1)), (select (1)) from t
select @a, @'a b', @`c d`, @a.b, @a := 1, @b := @a + 1, @@x, @@global.x, @@session.y, @@local.z, @@hot.key_buffer_size, @@global.hot.key_buffer_size, @@default.key_buffer_size, @@persist.max_connections
select 0, 1, 12345678901234567890, 1.5, .5, 1., 1e5, 1.5e-3, 1E+2, .5e1, 0x1F, x'1f', X'AB', 0b101, b'101', B'0', null, NULL, true, FALSE
select 'a''b', "a""b", 'a\'b', 'a\\b', 'a\nb\tc\rd\0e\Zf\bg', 'a\%b\_c', 'x' 'y' "z", n'x', N'y' 'z', _latin1'x', _utf8mb4 'x', _binary x'41', _utf8mb4 0x41, _latin1 b'1000001'
select `a``b`, `select`, a$b, _x, été, 1a from t
select default(a), values(a) from t
select f(1), db.f(1, 2), `f`(1), uuid(), rand(), point(1, 2), st_geomfromtext('POINT(1 1)')
select sleep(1), get_lock('a', 1), benchmark(1, 2), last_insert_id(), found_rows(), row_count(), connection_id(), version()
select * from t
select * from db.t
select *, a from t
select * from t as a
select * from t a, u b, v
select * from (t, u) join v
select * from t join u
select * from t join u on t.a = u.a
select * from t inner join u using (a, b)
select * from t cross join u
select * from t straight_join u
select * from t straight_join u on t.a = u.a
select * from t left join u on t.a = u.a
select * from t left outer join u using (a)
select * from t right join u on 1 right outer join v on 2
select * from t natural join u natural inner join v natural left join w natural right outer join x natural left outer join y natural right join z
select * from a join b join c on b.x = c.x
select * from a join b join c on b.x = c.x on a.x = b.x
select * from a left join b join c on b.x = c.x on a.x = b.x
select * from a join b left join c on a.x = c.x
select * from a, b join c on b.x = c.x, d left join (e, f) on d.x = e.x
select * from (a join b on a.x = b.x) left join (c cross join d) on a.x = c.x
select * from { oj a left outer join b on a.x = b.x }
select * from (select 1) as t
select * from (select 1, 2) t(a, b)
select * from ((select 1) union (select 2)) t
select * from ((select 1)) t
select * from ((select 1) t join u)
select * from (((select 1) t, u))
select * from (select 1 union select 2 order by 1 limit 1) as t
select * from (values row(1, 2), row(3, 4)) as t
select * from (table t) as u
select * from (with c as (select 1) select * from c) as u
select * from t, lateral (select t.a) as l
select * from t join lateral (select * from u where u.a = t.a limit 1) l on true
select * from t partition (p0, p1) as x use index (i, primary) force index for join (j) ignore key for group by (k)
select * from t use index ()
select * from t use key for order by (a) where 1
select * from t force index (a) use index (b)
select * from t as of timestamp '2020-01-01' as x
select * from json_table('[{"a":1}]', '$[*]' columns (id for ordinality, a int path '$.a' default '0' on empty null on error, b varchar(10) path '$.b' error on empty default 'x' on error, c int exists path '$.c', nested path '$.d[*]' columns (d int path '$'), nested '$.e' columns (e json path '$' error on error null on empty))) as jt
select a from t where a > 1 group by a, b having a > 2 order by a, b desc, c asc limit 1
select a from t limit 1, 2
select a from t limit 2 offset 1
select a from t limit ?, ?
select a from t limit ? offset ?
select a from t for update
select a from t for update nowait
select a from t for update of t, u skip locked
select a from t for share of t for update of u nowait
select a from t lock in share mode
select a from t order by a for update
select a into @x from t
select a, b into @x, @y from t where c = 1
select a from t into @x
select a from t for update into @x
select a from t into @x for update
select a from t where b limit 1 into outfile '/x' character set utf8mb4 fields terminated by ',' optionally enclosed by '"' escaped by '\\' lines starting by 'x' terminated by '\n'
select a into outfile '/x' columns enclosed by '"' from t
select a into dumpfile '/x' from t
select 1 union select 2
select 1 union all select 2 union distinct select 3
select 1 union select 2 intersect select 3 except select 4
select 1 intersect all select 2 except all select 3
(select 1) union (select 2) order by 1 limit 1
(select 1 limit 1) union all (select 2 order by 1) limit 3
((select 1) union select 2) union all select 3
(select 1)
((select 1))
(select 1) order by 1
select 1 from t union select 2 from u order by 1 desc limit 2 for update
select (select 1 union select 2), ((select 1) union (select 2))
table t
table db.t order by a limit 1
values row(1, 2), row(3, 4) order by column_0 limit 1
values row(1) union select 2
table t union table u
with a as (select 1), b(x, y) as (select 1, 2) select * from a, b
with recursive c(n) as (select 1 union all select n + 1 from c where n < 5) select * from c
with a as (select 1) update t set b = 1
with a as (select 1) delete from t where b in (select * from a)
with a as (select 1) (select * from a) union select 2
select * from (with a as (with b as (select 1) select * from b) select * from a) x
select /*+ MAX_EXECUTION_TIME(1000) */ a from t
select /*+ */ 1
select /* plain */ 1 /* + 2 */ -- end
select 1 # end
select /*! 1 + */ 1
select /*!80000 1 + */ 1
select 1 /*!99999 + 1 */
select /*M! 1 + */ 2
select a.b.c, a . b, a. b from a.b
select offset, share, value, status, names, type, date, time, timestamp, count, user, begin, end, commit, language, comment from t
select a as value, b as count, c status from t
select count, sum (a) from t
select t.select, t.from, t.1a from t
select a=1 is null, a+b*c-d, (a+b)*c, -a+b, not a=b, a between b and c and d or e from t
select a is null is null, a = b = c, a in (1) = 1 from t
select a or b and not c xor d like e escape 'f' from t
select -1, - 1, +1, 1-1, 1 - -1, 1+-1, a-1, a -1 from t
