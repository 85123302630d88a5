CREATE TABLE sbtest1( id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id) ) /*! ENGINE = innodb */
CREATE INDEX k_1 ON sbtest1(k)
create database d
create schema if not exists d default character set = utf8mb4 default collate utf8mb4_bin encryption 'Y'
create database d charset utf8mb4 collate = utf8mb4_general_ci
create database d character set binary
alter database character set latin1
alter schema d read only = 1
alter database d read only default
drop database d
drop schema if exists d
use d
create table t (a tinyint, b smallint(5) unsigned, c mediumint zerofill, d int signed, e integer unsigned zerofill, f bigint(20), g int1, h int2, i int3, j int4, k int8, l middleint)
create table t (a bool, b boolean, c serial, d bit, e bit(8), f float, g float(5), h float(5,2) unsigned, i double, j double(10,2), k double precision, l real, m decimal, n decimal(5), o decimal(5,2) zerofill, p dec(3), q numeric(3,1), r fixed(3,1), s float4, t float8)
create table t (a date, b time, c time(6), d datetime, e datetime(3), f timestamp, g timestamp(6) null, h year, i year(4))
create table t (a char, b char(10), c character(3), d varchar(10), e character varying(10), f char varying(3), g nchar(3), h national char(3), i national varchar(3), j nvarchar(3), k national character varying(3), l nchar varchar(3), m varcharacter(3), n national character(2))
create table t (a binary, b binary(3), c varbinary(3), d tinyblob, e blob, f blob(10), g mediumblob, h longblob, i tinytext, j text, k text(10), l mediumtext, m longtext, n long, o long varchar, p long varbinary, q long char varying)
create table t (a enum('a','b'), b set('x','y') character set latin1, c json, d geometry, e point, f linestring, g polygon, h multipoint, i multilinestring, j multipolygon, k geometrycollection, l geomcollection, m vector(3))
create table t (a char(3) character set utf8mb4 collate utf8mb4_bin, b varchar(3) charset latin1 binary, c text binary charset latin1, d char(1) ascii, e char(2) unicode, f char(3) byte, g text collate utf8mb4_bin not null, h char(3) binary, i char(3) char set utf8mb4)
create table t (a int not null default 1 auto_increment unique key comment 'x' column_format fixed storage disk, b int null default null unique, c int key, d int primary key)
create table t (a int default -1, b decimal default +1.5, c varchar(3) default 'x', d int default (1 + 2), e datetime default current_timestamp on update current_timestamp, f timestamp(3) default now(3) on update localtimestamp(3), g bit default b'1', h blob default (uuid()), i char(1) default _latin1'x', j date default '2020-01-01', k int default true, l int default x'41')
create table t (a int generated always as (b + 1) virtual not null, b int as (1) stored unique, c int as (2) comment 'x')
create table t (a int check (a > 0), b int constraint c check (b > 0) not enforced, c int constraint check (c > 1) enforced, check (a > b), constraint d check (a <> b) not enforced)
create table t (a int references p (id) match full on delete cascade on update set null, b int references p(x) on update no action)
create table t (a int visible, b int invisible, c int engine_attribute = '{}', d int secondary_engine_attribute '{}', e point not null srid 4326, f int serial default value, g int not secondary)
create table t (a int primary key clustered, b int, c bigint auto_random(5), d bigint auto_random)
create table t (a int, primary key (a), key (a), index i (a), key k using btree (a, b desc), unique (a), unique key u (a(10) asc), unique index v using hash (a) key_block_size = 8 comment 'x', fulltext key f (a) with parser ngram, spatial index s (a), index e ((a + 1), (b) desc) invisible, constraint primary key using btree (a), constraint c unique (a) visible)
create table t (a int, foreign key (a) references p (b), constraint fk foreign key i (a, b) references db.p (a, b) match simple on update restrict on delete set default, constraint foreign key (c) references q (c))
create table t (a int, key i (a) using btree, key j (a) engine_attribute '{}' secondary_engine_attribute = '{}', index type_i type btree (a), primary key (a) nonclustered)
create table t (a int) engine innodb auto_increment = 5, avg_row_length 3 character set utf8mb4 checksum = 1 collate = utf8mb4_bin comment 'c' compression = 'zlib' connection 'x' data directory = '/d' index directory '/i' delay_key_write 1 encryption 'N' insert_method last key_block_size 8 max_rows 5 min_rows = 1 pack_keys default password 'x' row_format = dynamic stats_auto_recalc default stats_persistent 1 stats_sample_pages 9 tablespace x storage disk union (a, b)
create table t (a int) default charset=latin1 default collate latin1_bin engine='MyISAM' start transaction autoextend_size 4M secondary_engine null secondary_engine_attribute '{}' engine_attribute = '{}'
create table t (a int) shard_row_id_bits = 4 pre_split_regions = 2 auto_id_cache 1
create table if not exists db.t (a int)
create temporary table t (a int)
create table t like db.u
create table t (like u)
create table t select 1
create table t as select 1
create table t (a int) ignore as select 1
create table t (a int) engine = innodb replace select 1 union select 2
create table t (a int) (select 1)
create table t as with c as (select 1) select * from c
create table t (a int) partition by hash (a)
create table t (a int) partition by linear hash (a + 1) partitions 4
create table t (a int) partition by key () partitions 2
create table t (a int) partition by linear key algorithm = 2 (a, b)
create table t (a int) partition by range (a) (partition p0 values less than (10) engine = innodb comment 'x' data directory '/x' index directory = '/y' max_rows 1 min_rows 2 tablespace ts, partition p1 values less than maxvalue)
create table t (a int) partition by range columns (a, b) (partition p0 values less than (1, maxvalue), partition p1 values less than (maxvalue, 'x'))
create table t (a int) partition by list (a) (partition p0 values in (1, 2, null), partition p1 values in (3))
create table t (a int) partition by list columns (a, b) (partition p0 values in ((1, 2), (3, 4)))
create table t (a int) partition by range (a) subpartition by hash (b) subpartitions 2 (partition p0 values less than (1) (subpartition s0 engine innodb, subpartition s1))
create table t (a int) partition by range (a) subpartition by linear key (b) (partition p0 values less than (1))
create unique index i on t (a)
create index i using btree on db.t (a desc, b(3)) comment 'x' algorithm = inplace lock none
create fulltext index i on t (a) with parser ngram
create spatial index i on t (a) key_block_size 3 lock = shared algorithm default
create index i on t ((lower(a)), (b + 1) desc) invisible using hash
create index if not exists i on t (a)
drop index i on t
drop index `PRIMARY` on t algorithm = copy lock = exclusive
drop table t
drop temporary table if exists t, db.u
drop tables t restrict
drop table t cascade
truncate t
truncate table db.t
rename table a to b, db.c to db.d
rename tables a to b
alter table t
alter table t add a int
alter table t add column a int not null first, add b int after a, add column if not exists c int
alter table t add (a int, b int, key (a))
alter table t add column (a int)
alter table t add index (a), add key k (a), add unique u (b), add primary key (c), add fulltext f (d), add spatial s (e), add constraint x foreign key (a) references b (c), add check (a > 1), add constraint y check (b > 2) not enforced, add constraint unique (z), add constraint primary key (a)
alter table t drop a, drop column b, drop index i, drop key k, drop primary key, drop foreign key f, drop check c, drop constraint d, drop column if exists e
alter table t modify a int, modify column b varchar(3) not null after a, change a b int first, change column c d int
alter table t alter a set default 1, alter column b drop default, alter c set default (1 + 1), alter column d set visible, alter e set invisible
alter table t alter index i visible, alter index j invisible, alter check c enforced, alter constraint d not enforced
alter table t rename column a to b, rename index i to j, rename key k to l, rename to u
alter table t rename u
alter table t rename as db.u
alter table t rename = u
alter table t convert to character set utf8mb4
alter table t convert to charset utf8mb4 collate utf8mb4_bin
alter table t convert to character set default
alter table t default character set latin1 collate latin1_bin, engine = innodb, comment 'x', auto_increment = 5 row_format compact
alter table t order by a, b desc
alter table t enable keys, disable keys
alter table t discard tablespace
alter table t import tablespace
alter table t force, algorithm = instant, lock default, with validation
alter table t algorithm inplace, without validation
alter table t partition by hash (a) partitions 2
alter table t add column a int partition by key (a)
alter table t remove partitioning
alter table t engine = innodb remove partitioning
alter table t add partition (partition p1 values less than (20))
alter table t add partition no_write_to_binlog partitions 3
alter table t drop partition p0, p1
alter table t truncate partition all
alter table t truncate partition p0, p1
alter table t coalesce partition local 2
alter table t reorganize partition
alter table t reorganize partition p0, p1 into (partition p2 values less than (5))
alter table t exchange partition p0 with table u with validation
alter table t exchange partition p0 with table db.u without validation
alter table t analyze partition all
alter table t check partition p0 for upgrade quick
alter table t optimize partition local p0
alter table t rebuild partition p0
alter table t repair partition p0 quick extended
alter table t discard partition p0 tablespace
alter table t import partition all tablespace
alter table t secondary_load
alter table t secondary_unload
create view v as select 1
create or replace algorithm = undefined definer = 'u'@'%' sql security definer view db.v (a, b) as select 1, 2 union select 3, 4 with cascaded check option
create algorithm = temptable view v as (select 1)
create definer = current_user view v as table t with local check option
alter algorithm = merge definer = current_user() view v as select 1
alter view v (a) as select 1
drop view v
drop view if exists a, db.b cascade
