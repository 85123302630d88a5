create definer = u trigger if not exists db.t before update on x for each row follows y begin end
create trigger t after delete on x for each row precedes y insert into log values (old.a)
create trigger t before insert on x for each row set new.a = new.b + 1, @c = 2
drop trigger db.t
drop trigger if exists t
create procedure p(in a int, out b varchar(10) charset utf8mb4, inout c decimal(5,2), d text collate utf8mb4_bin) comment 'x' language sql deterministic contains sql sql security invoker begin end
create definer = 'u'@'h' procedure if not exists db.p() not deterministic modifies sql data select 1
create function f() returns varchar(10) charset latin1 collate latin1_bin no sql return 'x'
create function f(a int) returns int reads sql data sql security definer begin return a; end
create aggregate function f returns string soname 'x.so'
create function f returns integer soname 'x.so'
alter procedure p comment 'x' sql security invoker
alter function db.f no sql
drop procedure p
drop function if exists db.f
create procedure p() begin declare a, b int default 0; declare c varchar(3) collate utf8mb4_bin; declare d condition for sqlstate '45000'; declare e condition for 1051; declare cur cursor for select 1; declare exit handler for sqlexception, sqlwarning, not found, d, 1051, sqlstate value '42000' begin end; declare undo handler for not found set a = 1; open cur; fetch cur into a; fetch next from cur into a, b; fetch from cur into @x; close cur; end
create procedure p() begin if a then select 1; elseif b then select 2; set c = 1; else select 3; end if; case a when 1 then select 1; else select 2; end case; case when a then select 1; end case; end
create procedure p() l1: begin l2: loop iterate l2; leave l1; end loop l2; l3: while a do set a = a - 1; end while l3; l4: repeat set a = 1; until a > 3 end repeat l4; repeat select 1; until 1 end repeat; loop select 1; end loop; end l1
create procedure p(n int) begin select a into b from t limit n; select a into b, @c from t; update t set a = b limit n; end
create procedure p() begin start transaction; insert into t values (1); commit; prepare s from @q; execute s; deallocate prepare s; signal sqlstate '45000' set message_text = 'x', mysql_errno = 5; resignal; get diagnostics condition 1 @a = message_text; end
create procedure p() if 1 then select 1; end if
create procedure p() while 1 do select 1; end while
create event e on schedule at now() + interval 1 day do select 1
create definer = u event if not exists db.e on schedule every 5 minute starts '2020-01-01' + interval 1 hour ends now() on completion preserve enable comment 'x' do begin select 1; end
create event e on schedule every '1:1' hour_minute on completion not preserve disable on slave do call p()
alter event e on schedule every 1 day on completion preserve rename to f disable comment 'x' do select 1
alter event e disable on replica
alter event e enable
drop event if exists db.e
signal sqlstate value '45000' set message_text = 'x'
signal c
resignal sqlstate '45000'
resignal set message_text = 'y'
get diagnostics @a = number, @b = row_count
get stacked diagnostics condition @i @a = returned_sqlstate, @b = message_text
get current diagnostics n = number
xa begin 'a', 'b', 5 join
xa start x'41' resume
xa end 'a' suspend for migrate
xa prepare 'a', 'b'
xa commit 'a' one phase
xa rollback 'a'
xa recover convert xid
handler db.t open as x
handler t read first limit 5
handler t read i next where a = 1
handler t read i = (1, 2) limit 1, 2
handler t read i <= (1)
handler t close
help 'select'
import table from 'a', 'b'
purge master logs before now() - interval 1 day
binlog 'AAAA'
change replication source to source_host = 'x', source_port = 3306, source_ssl = 1, ignore_server_ids = (1, 2), source_log_file = 'f' for channel 'c'
change replication filter replicate_do_db = (a, b), replicate_rewrite_db = ((a, b)), replicate_wild_do_table = ('a.%')
change master to master_host = 'x', master_log_pos = 4
start replica
start slave io_thread, sql_thread until source_log_file = 'f', source_log_pos = 4 user = 'u' password = 'p' for channel 'c'
start replica until sql_after_mts_gaps
start group_replication
stop replica sql_thread for channel 'c'
stop slave
stop group_replication
reset replica all for channel 'c'
reset master to 5
reset binary logs and gtids
reset persist if exists a.b
reset persist
install plugin p soname 'x.so'
uninstall plugin p
install component 'a', 'b'
uninstall component 'a'
clone local data directory = '/x'
clone instance from 'u'@'h' : 3306 identified by 'p'
shutdown
restart
cache index t, db.u index (a, b) in c
load index into cache t partition (p0) index (a) ignore leaves, u
create resource group g type = user vcpu = 0-3, 5 thread_priority = 5 disable
alter resource group g vcpu 1, 2 thread_priority -3 enable force
drop resource group g force
create server s foreign data wrapper mysql options (host 'x', user 'y', port 3306)
alter server s options (user 'z')
drop server if exists s
create tablespace ts add datafile 'f.ibd' file_block_size = 8192 engine = innodb
create undo tablespace u add datafile 'u.ibu'
alter undo tablespace u set inactive
alter tablespace ts rename to ts2
drop tablespace ts engine = innodb
drop undo tablespace u
create logfile group g add undofile 'f' initial_size 4 engine ndb
drop logfile group g engine ndb
create spatial reference system 4120 name 'x' definition 'y'
create or replace spatial reference system 4120 name 'x' organization 'o' identified by 5
drop spatial reference system if exists 4120
alter instance rotate innodb master key
alter instance reload tls for channel mysql_main no rollback on error
alter instance disable innodb redo_log
admin show ddl
admin show ddl jobs 5 where state = 'synced'
admin cancel ddl jobs 1, 2
admin check table t, u
admin check index t i
admin backup to '/backups/monday'
admin promote
split table t index i between (1) and (100) regions 4
split table t by (1), (2)
split region for partition table t between (1) and (10) regions 2
backup table a, db.b to 's3://x' rate_limit = 5
restore database d from 'local:///x'
recover table t
flashback table t to u
