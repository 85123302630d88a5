ALTER TABLE book ADD COLUMN pages INT UNSIGNED NOT NULL DEFAULT 0 AFTER title, ADD KEY book_title (title);
INSERT INTO author (name) VALUES ('Ada'), ('Bo');
