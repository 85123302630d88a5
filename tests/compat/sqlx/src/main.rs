// Rust's sqlx: its macros asked the server about each query when this was compiled.
use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use futures_util::TryStreamExt;
use rust_decimal::Decimal;
use sqlx::mysql::{MySqlConnectOptions, MySqlPool, MySqlPoolOptions, MySqlSslMode};
use sqlx::types::Json;
use sqlx::{Acquire, Column, ConnectOptions, Executor, MySql, QueryBuilder, Row, SqlSafeStr, TypeInfo};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Tags {
    words: Vec<String>,
}

#[derive(Debug, PartialEq, sqlx::Type)]
#[sqlx(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Debug, PartialEq, sqlx::FromRow)]
struct Types {
    id: u64,
    small: i8,
    flag: bool,
    number: Decimal,
    real: f64,
    single: f32,
    text: String,
    bytes: Vec<u8>,
    day: NaiveDate,
    at: NaiveDateTime,
    moment: DateTime<Utc>,
    clock: NaiveTime,
    json: Json<Tags>,
    colour: Colour,
    year: u16,
    bits: u64,
    nothing: Option<i32>,
}

fn number(e: &sqlx::Error) -> u16 {
    match e {
        sqlx::Error::Database(e) => e.downcast_ref::<sqlx::mysql::MySqlDatabaseError>().number(),
        _ => 0,
    }
}

fn fails<T>(result: Result<T, sqlx::Error>) -> u16 {
    result.err().map_or(0, |e| number(&e))
}

async fn connects(db: &MySqlPool) -> Outcome {
    let (mode, zone, names): (String, String, String) = sqlx::query_as("SELECT @@sql_mode, @@time_zone, @@character_set_client").fetch_one(db).await?;
    assert!(mode.contains("PIPES_AS_CONCAT") && mode.contains("NO_ENGINE_SUBSTITUTION"), "{mode}");
    assert_eq!((zone.as_str(), names.as_str()), ("+00:00", "utf8mb4"));
    let joined: String = sqlx::query_scalar("SELECT 'a' || ?").bind("b").fetch_one(db).await?;
    assert_eq!(joined, "ab");
    Ok(())
}

async fn types(db: &MySqlPool) -> Outcome {
    db.execute(
        "CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, small TINYINT, flag BOOLEAN, number DECIMAL(20, 5), `real` DOUBLE, single FLOAT, text TEXT, bytes VARBINARY(50), day DATE,
         at DATETIME(6), moment TIMESTAMP(6), clock TIME(6), json JSON, colour ENUM('red', 'green'), year YEAR, bits BIT(10), nothing INT)",
    )
    .await?;
    let at = NaiveDate::from_ymd_opt(2026, 2, 28).unwrap().and_hms_micro_opt(23, 59, 59, 123456).unwrap();
    let want = Types {
        id: u64::MAX,
        small: -128,
        flag: true,
        number: "-123456789012345.67890".parse()?,
        real: 0.1,
        single: 1.5,
        text: "Ünï 🚀 '\\\"".into(),
        bytes: vec![0, 0xff, b'\'', b'\\'],
        day: at.date(),
        at,
        moment: at.and_utc(),
        clock: at.time(),
        json: Json(Tags { words: vec!["a".into(), "ß".into()] }),
        colour: Colour::Green,
        year: 2026,
        bits: 0x2a5,
        nothing: None,
    };
    sqlx::query("INSERT INTO types VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
        .bind(want.id).bind(want.small).bind(want.flag).bind(want.number).bind(want.real).bind(want.single).bind(&want.text).bind(&want.bytes)
        .bind(want.day).bind(want.at).bind(want.moment).bind(want.clock).bind(&want.json).bind(&want.colour).bind(want.year).bind(want.bits).bind(want.nothing)
        .execute(db)
        .await?;
    let got: Types = sqlx::query_as("SELECT * FROM types WHERE `real` = ? AND text = ? AND at = ? AND json->'$.words[1]' = ?")
        .bind(0.1).bind(&want.text).bind(want.at).bind("ß")
        .fetch_one(db)
        .await?;
    assert_eq!(got, want);
    let described = db.acquire().await?.describe("SELECT id, flag, number, text, bytes, at, json, colour FROM types".into_sql_str()).await?;
    let names: Vec<String> = described.columns().iter().map(|c| format!("{} {}", c.name(), c.type_info().name())).collect();
    assert_eq!(names, ["id BIGINT UNSIGNED", "flag BOOLEAN", "number DECIMAL", "text TEXT", "bytes VARBINARY", "at DATETIME", "json JSON", "colour ENUM"]);
    let nullable: Vec<Option<bool>> = (0..3).map(|i| described.nullable(i)).collect();
    assert_eq!(nullable, [Some(false), Some(true), Some(true)]);
    Ok(())
}

async fn relations(db: &MySqlPool) -> Outcome {
    let tags = serde_json::json!({"words": ["x"]});
    for (author, title, price) in [("Ada", "one", "1.50"), ("Ada", "two", "2.25"), ("Bo", "three", "3.00")] {
        let price: Decimal = price.parse()?;
        let done = sqlx::query!("INSERT INTO book (author_id, title, pages, price, tags) SELECT id, ?, 10, ?, ? FROM author WHERE name = ?", title, price, tags, author)
            .execute(db)
            .await?;
        assert_eq!(done.rows_affected(), 1);
        assert!(done.last_insert_id() > 0);
    }
    let rows = sqlx::query!("SELECT a.name, b.title AS `title?`, b.price, b.tags AS `tags: Json<Tags>`, a.active AS `active: bool` FROM author a LEFT JOIN book b ON b.author_id = a.id ORDER BY b.id")
        .fetch_all(db)
        .await?;
    let titles: Vec<_> = rows.iter().map(|r| (r.name.as_str(), r.title.as_deref(), r.active)).collect();
    assert_eq!(titles, [("Ada", Some("one"), true), ("Ada", Some("two"), true), ("Bo", Some("three"), true)]);
    assert_eq!(rows[0].tags, Some(Json(Tags { words: vec!["x".into()] })));
    let sums = sqlx::query!("SELECT a.name, COUNT(*) AS books, SUM(b.price) AS total FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id HAVING COUNT(*) > ? ORDER BY total DESC", 1)
        .fetch_all(db)
        .await?;
    assert_eq!((sums.len(), sums[0].books, sums[0].total), (1, 2, Some("3.75".parse()?)));
    let without = sqlx::query_scalar!("SELECT name FROM author a WHERE NOT EXISTS (SELECT 1 FROM book b WHERE b.author_id = a.id AND b.price > ?) UNION SELECT 'last' ORDER BY name", 2.5)
        .fetch_all(db)
        .await?;
    assert_eq!(without, ["Ada", "last"]);
    assert_eq!(fails(sqlx::query!("INSERT INTO book (author_id, title) VALUES (99, 'x')").execute(db).await), 1452);
    let twice = sqlx::query!("INSERT INTO author (name) VALUES ('Ada')").execute(db).await.unwrap_err();
    let twice = twice.as_database_error().unwrap();
    assert!(twice.is_unique_violation() && twice.code().as_deref() == Some("23000"), "{twice}");
    assert_eq!(sqlx::query!("DELETE FROM author WHERE name = ?", "Bo").execute(db).await?.rows_affected(), 1);
    assert_eq!(sqlx::query_scalar!("SELECT COUNT(*) FROM book").fetch_one(db).await?, 2);
    Ok(())
}

async fn upserts(db: &MySqlPool) -> Outcome {
    let mut insert = QueryBuilder::<MySql>::new("INSERT INTO author (name, active) ");
    insert.push_values([("Ada", false), ("Cy", true), ("Di", true)], |mut row, (name, active)| {
        row.push_bind(name).push_bind(active);
    });
    insert.push(" AS new ON DUPLICATE KEY UPDATE active = new.active");
    assert_eq!(insert.build().execute(db).await?.rows_affected(), 4);
    assert_eq!(sqlx::query!("REPLACE INTO author (id, name) SELECT id, name FROM author WHERE name = 'Di'").execute(db).await?.rows_affected(), 2);
    let active = sqlx::query!("SELECT name, active FROM author ORDER BY name").fetch_all(db).await?;
    assert_eq!(active.iter().map(|a| (a.name.as_str(), a.active)).collect::<Vec<_>>(), [("Ada", 0), ("Cy", 1), ("Di", 1)]);
    let names = ["Ada", "Di"];
    let mut list = QueryBuilder::<MySql>::new("SELECT name FROM author WHERE name IN (");
    let mut each = list.separated(", ");
    names.iter().for_each(|name| {
        each.push_bind(name);
    });
    list.push(") ORDER BY name DESC");
    assert_eq!(list.build_query_scalar::<String>().fetch_all(db).await?, ["Di", "Ada"]);
    Ok(())
}

async fn pages(db: &MySqlPool) -> Outcome {
    db.execute("CREATE TABLE item (id INT PRIMARY KEY, pad VARCHAR(100) NOT NULL)").await?;
    db.execute("INSERT INTO item WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, REPEAT('x', 100) FROM n").await?;
    let page: Vec<i32> = sqlx::query_scalar("SELECT id FROM item ORDER BY id DESC LIMIT ? OFFSET ?").bind(3u64).bind(10u64).fetch_all(db).await?;
    assert_eq!(page, [990, 989, 988]);
    let mut stream = sqlx::query("SELECT a.id, b.pad FROM item a JOIN item b ON b.id <= 20").fetch(db);
    let (mut rows, mut sum) = (0, 0i64);
    while let Some(row) = stream.try_next().await? {
        rows += 1;
        sum += i64::from(row.get::<i32, _>(0));
    }
    assert_eq!((rows, sum), (20000, 20 * 500500));
    Ok(())
}

async fn transactions(db: &MySqlPool) -> Outcome {
    let mut tx = db.begin().await?;
    sqlx::query!("UPDATE author SET active = FALSE").execute(&mut *tx).await?;
    let mut inner = tx.begin().await?; // a savepoint
    sqlx::query!("DELETE FROM author").execute(&mut *inner).await?;
    inner.rollback().await?;
    assert_eq!(sqlx::query_scalar!("SELECT COUNT(*) FROM author WHERE NOT active").fetch_one(&mut *tx).await?, 3);
    drop(tx); // rolls back when the connection is used again
    assert_eq!(sqlx::query_scalar!("SELECT COUNT(*) FROM author WHERE active").fetch_one(db).await?, 2);
    let mut tx = db.begin_with("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await?;
    assert_eq!(fails(sqlx::query!("DELETE FROM author").execute(&mut *tx).await), 1792);
    tx.rollback().await?;
    Ok(())
}

async fn locks(db: &MySqlPool) -> Outcome {
    let mut tx = db.begin().await?;
    let id = sqlx::query_scalar!("SELECT id FROM author WHERE name = ? FOR UPDATE", "Ada").fetch_one(&mut *tx).await?;
    assert_eq!(fails(sqlx::query!("SELECT id FROM author WHERE id = ? FOR UPDATE NOWAIT", id).fetch_one(db).await), 3572);
    let free = sqlx::query_scalar!("SELECT name FROM author ORDER BY name LIMIT 1 FOR SHARE SKIP LOCKED").fetch_one(db).await?;
    assert_eq!(free, "Cy");
    let other = db.clone();
    let waiter = tokio::spawn(async move { sqlx::query!("UPDATE author SET name = CONCAT(name, '!') WHERE id = ?", id).execute(&other).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiter.is_finished()); // it waits
    sqlx::query!("UPDATE author SET name = 'Eve' WHERE id = ?", id).execute(&mut *tx).await?;
    tx.commit().await?;
    assert_eq!(waiter.await??.rows_affected(), 1);
    assert_eq!(sqlx::query_scalar!("SELECT name FROM author WHERE id = ?", id).fetch_one(db).await?, "Eve!");
    Ok(())
}

async fn dictionary(db: &MySqlPool) -> Outcome {
    let columns = sqlx::query!("SELECT column_name AS `name!: String`, column_type AS `kind!: String`, is_nullable AS `nullable!: String` FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position", "book")
        .fetch_all(db)
        .await?;
    let columns: Vec<_> = columns.iter().map(|c| format!("{} {} {}", c.name, c.kind, c.nullable)).collect();
    assert_eq!(columns, ["id bigint unsigned NO", "author_id bigint unsigned NO", "title varchar(100) NO", "pages int unsigned NO", "price decimal(10,2) YES", "tags json YES"]);
    let create: String = sqlx::query("SHOW CREATE TABLE book").fetch_one(db).await?.try_get(1)?;
    assert!(create.contains("CONSTRAINT `book_author` FOREIGN KEY (`author_id`) REFERENCES `author` (`id`) ON DELETE CASCADE"), "{create}");
    let keys = sqlx::query("SHOW INDEX FROM book").fetch_all(db).await?;
    let keys: Vec<String> = keys.iter().map(|k| k.get("Key_name")).collect();
    assert_eq!(keys, ["PRIMARY", "book_author", "book_title"]);
    Ok(())
}

async fn errors(db: &MySqlPool) -> Outcome {
    assert_eq!(fails(sqlx::query("SELECT * FROM nowhere").execute(db).await), 1146);
    assert_eq!(fails(sqlx::query("SELEC 1").execute(db).await), 1064);
    assert_eq!(fails(sqlx::query("INSERT INTO item VALUES (?, ?)").bind(1).bind("x".repeat(101)).execute(db).await), 1406);
    let several = sqlx::raw_sql("SELECT 1; SELECT 2, 3; DO 4").fetch_all(db).await?;
    assert_eq!(several.iter().map(|r| r.len()).collect::<Vec<_>>(), [1, 2]);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options: MySqlConnectOptions = std::env::var("DATABASE_URL")?.parse()?;
    let db = MySqlPoolOptions::new().max_connections(4).connect_with(options.clone().disable_statement_logging()).await?;
    let mut failed = false;
    macro_rules! check {
        ($name:literal, $step:expr) => {
            let outcome = tokio::spawn({
                let db = db.clone();
                async move { $step(&db).await.map_err(|e| e.to_string()) }
            });
            match outcome.await {
                Ok(Ok(())) => println!("ok - {}", $name),
                Ok(Err(e)) => {
                    failed = true;
                    println!("not ok - {}: {}", $name, e.replace('\n', " "));
                }
                Err(e) => {
                    failed = true;
                    println!("not ok - {}: {}", $name, e.to_string().replace('\n', " "));
                }
            }
        };
    }
    check!("what it sets at connect", connects);
    check!("types there and back", types);
    check!("relations and errors", relations);
    check!("upsert, lists", upserts);
    check!("pages and streams", pages);
    check!("transactions and savepoints", transactions);
    check!("locks", locks);
    check!("the dictionary", dictionary);
    check!("error numbers, several statements", errors);
    let encrypted = options.ssl_mode(MySqlSslMode::Required).connect().await;
    match encrypted {
        Ok(mut c) => {
            let cipher: (String, String) = sqlx::query_as("SHOW STATUS LIKE 'Ssl_cipher'").fetch_one(&mut c).await?;
            println!("{} - an encrypted connection", if cipher.1.is_empty() { "not ok" } else { "ok" });
        }
        Err(e) => {
            failed = true;
            println!("not ok - an encrypted connection: {e}");
        }
    }
    std::process::exit(i32::from(failed))
}
