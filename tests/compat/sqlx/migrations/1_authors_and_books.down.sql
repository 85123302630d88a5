DROP TABLE book; DROP TABLE author;
