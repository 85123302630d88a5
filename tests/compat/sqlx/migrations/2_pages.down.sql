DELETE FROM author;
ALTER TABLE book DROP KEY book_title, DROP COLUMN pages;
