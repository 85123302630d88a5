/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
/*!40000 ALTER TABLE `t` DISABLE KEYS */;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `t1` BEFORE INSERT ON `t` FOR EACH ROW set new.a = 1 */;
/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`root`@`%` SQL SECURITY DEFINER */ /*!50001 VIEW `v` AS select `t`.`a` AS `a` from `t` */;
/*!50001 DROP VIEW IF EXISTS `v`*/;
CREATE TABLE `t` ( `id` int NOT NULL AUTO_INCREMENT, `a` varchar(255) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '', `b` datetime(6) DEFAULT NULL, `c` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, `d` decimal(10,2) unsigned NOT NULL DEFAULT '0.00', `e` enum('x','y') CHARACTER SET latin1 DEFAULT 'x', `f` json DEFAULT NULL, `g` int GENERATED ALWAYS AS ((`id` + 1)) VIRTUAL, PRIMARY KEY (`id`), UNIQUE KEY `u` (`a`), KEY `k` (`b`,`a`(10)) USING BTREE COMMENT 'x', FULLTEXT KEY `f` (`a`), CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `p` (`id`) ON DELETE CASCADE, CONSTRAINT `chk` CHECK ((`id` > 0)) ) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='x' /*!50100 PARTITION BY RANGE (`id`) (PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB, PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */;
SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`
SHOW FIELDS FROM `t`
SHOW FULL COLUMNS FROM `t` FROM `d`
SHOW KEYS FROM `t` FROM `d`
SHOW FULL TABLES FROM `d` LIKE 'PROBABLYNOT'
SHOW CREATE TABLE `t`
SHOW VARIABLES WHERE Variable_name IN ('lower_case_table_names', 'sql_mode')
SHOW FUNCTION STATUS WHERE Db = 'd'
SHOW TRIGGERS LIKE 't'
SHOW SLAVE STATUS
SHOW MASTER STATUS
SET SQL_QUOTE_SHOW_CREATE=1
SET SESSION character_set_results = 'binary'
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
SET autocommit=1, @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'), @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483
SET SESSION sql_mode=(SELECT REPLACE(@@sql_mode,'ONLY_FULL_GROUP_BY',''))
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'
SET NAMES utf8mb4 COLLATE utf8mb4_general_ci
SELECT @@session.autocommit, @@session.tx_isolation, @@transaction_isolation, @@session.transaction_read_only
SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@sql_mode,@@lower_case_table_names
SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL
SELECT DISTINCT TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL
SELECT count(*) FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't' AND table_type = 'BASE TABLE'
SELECT SCHEMA_NAME from Information_schema.SCHEMATA where SCHEMA_NAME LIKE 'd%' ORDER BY SCHEMA_NAME='d' DESC, SCHEMA_NAME limit 1
SELECT column_name, column_default, is_nullable = 'YES', data_type, character_maximum_length, column_type, column_key, extra, column_comment, numeric_precision, numeric_scale, datetime_precision FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 't' ORDER BY ORDINAL_POSITION
SELECT GET_LOCK('a', 10), RELEASE_LOCK('a'), IS_FREE_LOCK('b')
SELECT SQL_CALC_FOUND_ROWS wp_posts.ID FROM wp_posts WHERE 1=1 AND wp_posts.post_type = 'post' AND ((wp_posts.post_status = 'publish')) ORDER BY wp_posts.post_date DESC LIMIT 0, 10
SELECT t.*, tt.* FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id WHERE tt.count > 0
SELECT FOUND_ROWS()
INSERT INTO `users` (`created_at`,`name`,`count`) VALUES ('2024-01-01 00:00:00.000','x',1),('2024-01-01',DEFAULT,2) ON DUPLICATE KEY UPDATE `name`=VALUES(`name`),`count`=`count`+1
INSERT IGNORE INTO t (a) VALUES (1)
UPDATE `users` SET `name`='x',`updated_at`=NOW(3) WHERE `users`.`deleted_at` IS NULL AND `id` = 1
DELETE FROM `users` WHERE `users`.`id` = 1 LIMIT 1
ALTER TABLE `t` ADD CONSTRAINT `fk_1` FOREIGN KEY (`a`) REFERENCES `u` (`id`)
ALTER TABLE `t` MODIFY `a` varchar(10) NULL
ALTER TABLE `t` ADD COLUMN `b` integer DEFAULT 5 NOT NULL, ALTER COLUMN `c` DROP DEFAULT
CREATE UNIQUE INDEX `idx` ON `t` (`a`, `b`)
START TRANSACTION READ ONLY
SAVEPOINT `sp-1_x2`
ROLLBACK TO SAVEPOINT `sp-1_x2`
SELECT UNIX_TIMESTAMP(time) DIV 60 * 60 AS "time", avg(value) AS value FROM metrics WHERE time BETWEEN FROM_UNIXTIME(1) AND FROM_UNIXTIME(2) GROUP BY 1 ORDER BY UNIX_TIMESTAMP(time) DIV 60 * 60
SELECT id FROM DATABASECHANGELOGLOCK WHERE LOCKED = 1 FOR UPDATE
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE
SELECT COUNT(DISTINCT (s_i_id)) FROM order_line, stock WHERE ol_w_id = ? AND ol_o_id < ? AND ol_o_id >= (? - 20) AND s_quantity < ?
select l_returnflag, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge from lineitem where l_shipdate <= date_sub('1998-12-01', interval 108 day) group by l_returnflag order by l_returnflag
select o_year, sum(case when nation = 'BRAZIL' then volume else 0 end) / sum(volume) as mkt_share from (select extract(year from o_orderdate) as o_year, l_extendedprice as volume, n2.n_name as nation from part, nation n1, nation n2 where o_orderdate between date '1995-01-01' and date '1996-12-31') as all_nations group by o_year
create view revenue0 (supplier_no, total_revenue) as select l_suppkey, sum(l_extendedprice) from lineitem where l_shipdate >= '1997-07-01' and l_shipdate < date_add('1997-07-01', interval '3' month) group by l_suppkey
