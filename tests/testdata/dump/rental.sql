-- A film rental: stock, customers and payments of two shops. Written for the tests of dumps: views on views, checks, most kinds of columns,
-- defaults that depend on the time zone, prefix and descending indexes, comments, and texts that are awkward to quote.
CREATE DATABASE rental CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
USE rental;
SET time_zone = '+03:00';
CREATE TABLE country (
  country_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  country VARCHAR(50) NOT NULL,
  iso CHAR(2) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (country_id),
  UNIQUE KEY uk_iso (iso)
) COMMENT='Countries; ''quoted'' and "double"';
CREATE TABLE city (
  city_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  city VARCHAR(50) NOT NULL COMMENT 'the name\nin two lines',
  country_id SMALLINT UNSIGNED NOT NULL,
  area DOUBLE DEFAULT '1.5e10',
  founded YEAR DEFAULT '1901',
  last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (city_id),
  KEY idx_country (country_id),
  KEY idx_name (city(10), country_id DESC) COMMENT 'by prefix'
) AUTO_INCREMENT=1000;
CREATE TABLE language (
  language_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name CHAR(20) NOT NULL DEFAULT 'o''clock \\ back',
  PRIMARY KEY (language_id)
) CHARACTER SET latin1;
CREATE TABLE film (
  film_id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  title VARCHAR(128) NOT NULL,
  description TEXT,
  release_year YEAR DEFAULT NULL,
  language_id TINYINT UNSIGNED NOT NULL,
  rental_duration TINYINT UNSIGNED NOT NULL DEFAULT '3',
  rental_rate DECIMAL(4,2) NOT NULL DEFAULT '4.99',
  length SMALLINT UNSIGNED DEFAULT NULL,
  replacement_cost DECIMAL(5,2) NOT NULL DEFAULT '19.99',
  rating ENUM('G','PG','PG-13','R','NC-17','it''s') DEFAULT 'G',
  special_features SET('Trailers','Commentaries','Deleted Scenes','Behind the Scenes') DEFAULT 'Trailers,Commentaries',
  flags BIT(10) NOT NULL DEFAULT b'101',
  poster MEDIUMBLOB,
  checksum BINARY(16) DEFAULT NULL,
  details JSON DEFAULT NULL,
  tags JSON DEFAULT (JSON_ARRAY('new', _utf8mb4'ü')),
  slug VARCHAR(64) COLLATE utf8mb4_bin NOT NULL DEFAULT (CONCAT('film-', UPPER('x'))),
  premiere TIMESTAMP NULL DEFAULT '2003-01-01 03:00:00',
  shown DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  runtime TIME(2) DEFAULT '01:30:00.50',
  seen DATE DEFAULT '2001-02-03',
  score FLOAT DEFAULT NULL,
  hidden INT INVISIBLE DEFAULT '7',
  last_update TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (film_id),
  UNIQUE KEY uk_slug (slug, title),
  KEY idx_title (title),
  KEY idx_language (language_id),
  KEY idx_hidden (release_year DESC, length) INVISIBLE,
  CONSTRAINT cheap CHECK (rental_rate < replacement_cost),
  CONSTRAINT longer CHECK (length IS NULL OR length BETWEEN 1 AND 600) NOT ENFORCED,
  CHECK (title <> '' AND title NOT LIKE '%\\%%')
);
CREATE TABLE category (category_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(25) NOT NULL UNIQUE);
CREATE TABLE film_category (
  film_id SMALLINT UNSIGNED NOT NULL,
  category_id TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (film_id, category_id)
);
CREATE TABLE store (store_id TINYINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, city_id SMALLINT UNSIGNED NOT NULL, KEY (city_id));
CREATE TABLE inventory (
  inventory_id MEDIUMINT UNSIGNED NOT NULL AUTO_INCREMENT,
  film_id SMALLINT UNSIGNED NOT NULL,
  store_id TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (inventory_id),
  KEY idx_store_film (store_id, film_id)
);
CREATE TABLE customer (
  customer_id INT NOT NULL AUTO_INCREMENT,
  store_id TINYINT UNSIGNED NOT NULL,
  `first name` VARCHAR(45) NOT NULL,
  `last``name` VARCHAR(45) NOT NULL,
  email VARCHAR(50) DEFAULT NULL,
  active TINYINT(1) NOT NULL DEFAULT '1',
  balance DECIMAL(20,6) DEFAULT '-0.000001',
  big BIGINT UNSIGNED DEFAULT '18446744073709551615',
  notes LONGTEXT CHARACTER SET latin1,
  secret VARBINARY(255) DEFAULT 0x00FF27,
  create_date DATETIME NOT NULL DEFAULT '1999-12-31 23:59:59',
  PRIMARY KEY (customer_id),
  KEY idx_last (`last``name`),
  UNIQUE KEY uk_email (email)
) CHARACTER SET utf8mb3;
CREATE TABLE rental (
  rental_id INT NOT NULL AUTO_INCREMENT,
  rental_date DATETIME NOT NULL,
  inventory_id MEDIUMINT UNSIGNED NOT NULL,
  customer_id INT NOT NULL,
  return_date DATETIME DEFAULT NULL,
  PRIMARY KEY (rental_id),
  UNIQUE KEY uk_rental (rental_date, inventory_id, customer_id)
);
CREATE TABLE payment (
  payment_id BIGINT NOT NULL AUTO_INCREMENT,
  customer_id INT NOT NULL,
  rental_id INT DEFAULT NULL,
  amount DECIMAL(5,2) NOT NULL CHECK (amount >= 0),
  payment_date TIMESTAMP(3) NOT NULL,
  PRIMARY KEY (payment_id),
  KEY idx_customer (customer_id)
);
CREATE TABLE `odd names` (`select` INT, `a.b` INT, KEY `key` (`select`));
CREATE TABLE nopk (a INT, b VARCHAR(10) DEFAULT NULL);
CREATE TABLE promotion (
  id INT PRIMARY KEY, code VARCHAR(20) NOT NULL, starts DATE, doc JSON,
  percent DECIMAL(5,2) GENERATED ALWAYS AS (doc->>'$.percent') STORED,
  label VARCHAR(60) AS (CONCAT(UPPER(code), ' it\'s from ', starts)) COMMENT 'what people see',
  days INT AS (TO_DAYS(starts)) INVISIBLE,
  weekend INT AS (CASE WHEN starts IS NULL THEN NULL ELSE DAYOFWEEK(starts) IN (1, 7) END) VIRTUAL,
  UNIQUE KEY lower_code ((LOWER(code))), KEY ((CAST(doc->'$.percent' AS DECIMAL(5,2))) DESC, starts), KEY (label(8)), CHECK (percent < 100));

CREATE VIEW film_list AS
  SELECT f.film_id AS fid, f.title, c.name AS category, f.rental_rate AS price
  FROM film f LEFT JOIN film_category fc ON fc.film_id = f.film_id LEFT JOIN category c ON c.category_id = fc.category_id;
CREATE VIEW cheap_films AS SELECT fid, UPPER(title) AS title FROM film_list WHERE price < 1;
CREATE VIEW promotions AS SELECT id, label, percent, weekend FROM promotion WHERE LOWER(code) <> 'x';
CREATE VIEW a_first AS SELECT COUNT(*) AS n FROM cheap_films;
CREATE SQL SECURITY INVOKER VIEW active_customer (id, name) AS
  SELECT customer_id, CONCAT(`first name`, ' ', `last``name`) FROM customer WHERE active = 1;
CREATE ALGORITHM=MERGE VIEW own_stock AS SELECT inventory_id, film_id, store_id FROM inventory WHERE store_id = 1 WITH CHECK OPTION;

INSERT INTO country (country_id, country, iso, last_update) VALUES (1,'Deutschland','DE','2006-02-15 04:44:00'), (2,'日本','JP','2006-02-15 04:44:00'), (3,'It''s \\ "odd"\n\t\0\Z%_',NULL,'2020-01-01 00:00:00');
INSERT INTO city (city_id, city, country_id, last_update) VALUES (1,'Köln',1,'2006-02-15 04:45:25'), (2,'東京',2,'2006-02-15 04:45:25');
INSERT INTO language VALUES (1,'English'),(2,'Français'),(3,DEFAULT);
INSERT INTO film (film_id, title, description, release_year, language_id, length, rating, special_features, flags, poster, checksum, details, tags, premiere, shown, runtime, seen, score, hidden, last_update) VALUES
 (1,'ACADEMY','A long; text -- with /* comment */ \'quotes\'',2006,1,86,'PG','Deleted Scenes',b'1111111111',x'00FF275C0A0D1A22',x'000102030405060708090A0B0C0D0E0F','{"a": [1, 2.50, "x\\"y", null, true], "ü": {}}','[]','2006-02-15 05:03:42','2020-02-02 02:02:02.123','-838:59:59.00','0001-01-01',1.5,1,'2006-02-15 05:03:42.123456'),
 (2,'ACE',NULL,NULL,2,NULL,NULL,'',b'0',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2006-02-15 05:03:42'),
 (3,'Ünïcödé 😀','',2155,1,600,'it''s','Trailers,Commentaries,Deleted Scenes,Behind the Scenes',b'1','',x'00','"text"','{}','1971-01-01 00:00:00','9999-12-31 23:59:59.999','838:59:59','9999-12-31',-3.40282e38,-2147483648,'2038-01-19 03:14:07');
INSERT INTO category VALUES (1,'Action'),(2,'Drama');
INSERT INTO film_category VALUES (1,1),(2,2),(3,1);
INSERT INTO store VALUES (1,1),(2,2);
INSERT INTO inventory VALUES (1,1,1),(2,1,2),(3,3,1);
INSERT INTO customer (customer_id, store_id, `first name`, `last``name`, email, active, notes, secret) VALUES (1,1,'MARY','SMITH','mary@example.org',1,'naïve',x'00'), (2,2,'','O''Brien',NULL,0,NULL,'');
INSERT INTO customer (customer_id, store_id, `first name`, `last``name`) VALUES (-5,1,'NEG','ATIVE');
INSERT INTO rental VALUES (1,'2005-05-24 22:53:30',1,1,'2005-05-26 22:04:30'),(2,'2005-05-24 22:54:33',2,2,NULL);
INSERT INTO payment VALUES (1,1,1,2.99,'2005-05-25 11:30:37.125'),(9007199254740993,2,NULL,0.00,'2005-06-15 00:54:12');
INSERT INTO `odd names` VALUES (1,2),(NULL,NULL);
INSERT INTO nopk VALUES (1,'a'),(1,'a'),(NULL,NULL);
INSERT INTO promotion (id, code, starts, doc) VALUES (1,'Spring','2005-03-20','{"percent": 12.5}'),(2,'Fall','2005-09-23','{"percent": 7}'),(3,'never',NULL,NULL);
