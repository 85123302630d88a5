begin
begin work
start transaction
start transaction with consistent snapshot
start transaction read only
start transaction read write, with consistent snapshot
START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */
commit
commit work and no chain no release
commit and chain
commit release
rollback
rollback work and chain no release
rollback to a
rollback work to savepoint `a-b`
savepoint `x-1`
release savepoint a
set autocommit = 0
SET AUTOCOMMIT = 0, @a = 1, @b := 2
set a = 1, global b = 2, session c = 3, local d = 4, persist e = 5, persist_only f = 6
set @@a = 1, @@global.b := 2, @@session.c = default, @@local.d = 4, @@persist.e = 5, @@persist_only.f = 6
set x = on, y = off, z = all, w = binary, v = row, u = system, t = default, s = ANSI
set @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')
set global hot.key_buffer_size = 1, default.key_buffer_size = 2
set tmp_table_size=2*1024*1024*1024
set names utf8mb4
set names 'utf8mb4' collate 'utf8mb4_bin'
set names default, autocommit = 1
set names binary
set character set utf8mb4
set charset default
set character_set_results = NULL
set transaction isolation level repeatable read
set session transaction isolation level read uncommitted, read only
set global transaction read write
set local transaction isolation level serializable
set password = 'x'
set password for 'u'@'%' = 'x' replace 'y' retain current password
set password for u to random
set role default
set role none
set role all
set role all except a, 'b'@'h'
set role a, b
set default role none to u
set default role all to u, 'v'@'h'
set default role a, b to u
set resource group g
set resource group g for 1, 2
set new.a = 1
show databases
show schemas like 'a%'
show tables
show full tables from d like 'x'
show extended full tables in d where a = 1
show columns from t
show extended full fields in t from d like 'a'
show fields from d.t where field = 'a'
show index from t in d
show indexes in t
show extended keys from t from d where key_name = 'x'
show table status from d like 't'
show open tables in d where 1
show triggers from d
show full triggers
show events in d like 'x'
show variables
show global variables like 'a%'
show session status where variable_name = 'x'
show local variables
show warnings
show warnings limit 1, 2
show errors limit 5
show count(*) warnings
show count(*) errors
show processlist
show full processlist
show engines
show storage engines
show engine innodb mutex
show engine all logs
show charset
show character set like 'utf%'
show collation where id = 5
show privileges
show plugins
show grants
show grants for current_user()
show grants for 'u'@'%' using r, 's'@'h'
show profiles
show profile
show profile all, block io for query 2 limit 1 offset 2
show procedure status like 'p'
show function status where db = 'x'
show procedure code p
show function code db.f
show create database d
show create schema if not exists d
show create table db.t
show create view v
show create procedure p
show create function f
show create trigger t
show create event e
show create user 'u'@'h'
show create user current_user
show binary logs
show master logs
show binlog events in 'x' from 4 limit 1, 2
show relaylog events for channel 'c'
show replicas
show slave hosts
show replica status for channel 'c'
show slave status
show table t regions
show stats_meta where table_name = 't'
explain select 1
explain format = json select 1
explain format = 'brief' select 1
explain format = traditional for connection 5
explain for connection 5
explain analyze select * from t
explain analyze format = tree select 1
explain insert into t values (1)
explain update t set a = 1
explain delete from t
explain replace into t values (1)
explain table t
explain with a as (select 1) select * from a
explain (select 1) union (select 2)
explain partitions select 1
explain extended select 1
describe select 1
desc t
desc db.t a
describe t 'a%'
explain t
analyze table t, db.u
analyze no_write_to_binlog table t
analyze local tables t
analyze table t update histogram on a, b with 10 buckets
analyze table t update histogram on a using data '{}'
analyze table t update histogram on a with 4 buckets auto update
analyze table t drop histogram on a
analyze table t partition p0, p1 index i
check table t, u for upgrade quick fast medium extended changed
checksum table t, u quick
optimize local table t
repair table t quick extended use_frm
kill 5
kill connection 5
kill query @a
kill tidb query 5
flush tables
flush table a, db.b
flush tables a, b with read lock
flush tables a for export
flush local privileges, status
flush binary logs, engine logs, error logs, general logs, slow logs, logs, hosts, optimizer_costs, user_resources
flush relay logs for channel 'c'
prepare s from 'select 1'
prepare s from @a
execute s
execute s using @a, @b
deallocate prepare s
drop prepare s
lock tables t read, db.u as x read local, v y low_priority write, w write
lock table t read
unlock tables
unlock table
lock instance for backup
unlock instance
create user u
create user if not exists 'u'@'%', v@localhost, `w`@`h`, 'x'@127.0.0.1
create user u identified by 'x'
create user u identified by random password, v identified with 'mysql_native_password' as '*ABC', w identified with caching_sha2_password
create user u identified with a by random password and identified with b by 'x' and identified with c as 'y'
create user u default role r, 's'@'h' require none with max_queries_per_hour 1 max_updates_per_hour 2 max_connections_per_hour 3 max_user_connections 4 password expire account lock
create user u require ssl
create user u require cipher 'a' and issuer 'b' subject 'c' password expire default password expire never password expire interval 5 day password history default password history 3 password reuse interval 5 day password reuse interval default password require current password require current optional password require current default failed_login_attempts 3 password_lock_time 2 password_lock_time unbounded account unlock comment 'x'
create user u attribute '{}'
create user u require x509
alter user u identified by 'x' replace 'y' retain current password
alter user if exists u discard old password, v identified with p
alter user user() identified by 'x'
alter user current_user() identified by 'x'
alter user u default role all
alter user u add 2 factor identified with p by 'x', v drop 2 factor
alter user u 2 factor initiate registration
drop user u, 'v'@'h'
drop user if exists u
drop role r
drop role if exists r, s
rename user a to b, 'c'@'d' to 'e'@'f'
create role r, 's'@'h'
create role if not exists r
grant all on *.* to u
grant all privileges on db.* to 'u'@'%' with grant option
grant select (a, b), insert, update (c), delete, create, drop, references, index, alter, create temporary tables, lock tables, execute, create view, show view, create routine, alter routine, event, trigger on db.t to u
grant reload, shutdown, process, file, super, show databases, replication slave, replication client, create user, create tablespace, create role, drop role, usage, backup_admin, `system_user` on *.* to u, v
grant execute on procedure db.p to u
grant execute on function f to u
grant select on * to u
grant select on table t to u
grant select on t to u as v with role r
grant select on t to u as v with role all except r
grant proxy on 'a'@'b' to 'c'@'d' with grant option
grant r, 's'@'h' to u, v with admin option
grant grant option on *.* to u
grant all on *.* to 'u'@'h' identified by 'x' require ssl with grant option
revoke select on t from u
revoke all privileges, grant option from u, v
revoke all on db.* from u
revoke proxy on a from b
revoke r, s from u
revoke if exists select on *.* from u ignore unknown user
