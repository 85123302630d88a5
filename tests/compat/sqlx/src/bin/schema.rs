// Migrates the database there, back and there again, before the queries of the trial are compiled against it.
use sqlx::migrate::Migrator;
use sqlx::{Connection, MySqlConnection};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("DATABASE_URL")?;
    let mut db = MySqlConnection::connect(&url).await?;
    let migrator = Migrator::new(std::path::Path::new("migrations")).await?;
    migrator.run(&mut db).await?;
    migrator.run(&mut db).await?; // nothing is left to do
    migrator.undo(&mut db, 1).await?;
    migrator.undo(&mut db, 0).await?;
    let left: Vec<String> = sqlx::query_scalar("SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE()").fetch_all(&mut db).await?;
    assert_eq!(left, ["_sqlx_migrations"]);
    migrator.run(&mut db).await?;
    let done: Vec<(i64, String, bool)> = sqlx::query_as("SELECT version, description, success FROM _sqlx_migrations ORDER BY version").fetch_all(&mut db).await?;
    assert_eq!(done, [(1, "authors and books".to_string(), true), (2, "pages".to_string(), true)]);
    db.close().await?;
    println!("ok - migrations there, back and there again");
    Ok(())
}
