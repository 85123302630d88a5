-- An employees database: long tables, composite keys of dates, histories. Written for the tests of dumps and of import.
CREATE DATABASE employees;
USE employees;
CREATE TABLE employees (
  emp_no INT NOT NULL,
  birth_date DATE NOT NULL,
  first_name VARCHAR(14) NOT NULL,
  last_name VARCHAR(16) NOT NULL,
  gender ENUM('M','F') NOT NULL,
  hire_date DATE NOT NULL,
  PRIMARY KEY (emp_no)
);
CREATE TABLE departments (dept_no CHAR(4) NOT NULL, dept_name VARCHAR(40) NOT NULL, PRIMARY KEY (dept_no), UNIQUE KEY (dept_name));
CREATE TABLE dept_manager (
  emp_no INT NOT NULL, dept_no CHAR(4) NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL,
  PRIMARY KEY (emp_no, dept_no), KEY (dept_no)
);
CREATE TABLE dept_emp (
  emp_no INT NOT NULL, dept_no CHAR(4) NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL,
  PRIMARY KEY (emp_no, dept_no), KEY (dept_no)
);
CREATE TABLE titles (
  emp_no INT NOT NULL, title VARCHAR(50) NOT NULL, from_date DATE NOT NULL, to_date DATE DEFAULT NULL,
  PRIMARY KEY (emp_no, title, from_date)
);
CREATE TABLE salaries (
  emp_no INT NOT NULL, salary INT NOT NULL, from_date DATE NOT NULL, to_date DATE NOT NULL,
  PRIMARY KEY (emp_no, from_date)
);
CREATE OR REPLACE VIEW dept_emp_latest_date AS SELECT emp_no, MAX(from_date) AS from_date, MAX(to_date) AS to_date FROM dept_emp GROUP BY emp_no;
CREATE OR REPLACE VIEW current_dept_emp AS
  SELECT l.emp_no, dept_no, l.from_date, l.to_date
  FROM dept_emp d INNER JOIN dept_emp_latest_date l ON d.emp_no = l.emp_no AND d.from_date = l.from_date AND l.to_date = d.to_date;
INSERT INTO departments VALUES ('d001','Marketing'),('d002','Finance'),('d003','Human Resources'),('d004','Production');
INSERT INTO employees
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  SELECT 10000 + i, DATE_ADD('1952-02-01', INTERVAL i * 13 % 4748 DAY), CONCAT('First', i % 97), CONCAT('Last', i % 331), IF(i % 3, 'M', 'F'), DATE_ADD('1985-01-01', INTERVAL i * 7 % 5000 DAY) FROM n;
INSERT INTO dept_emp SELECT emp_no, CONCAT('d00', 1 + emp_no % 4), hire_date, '9999-01-01' FROM employees;
INSERT INTO dept_manager SELECT emp_no, dept_no, from_date, to_date FROM dept_emp WHERE emp_no % 250 < 2;
INSERT INTO titles SELECT emp_no, ELT(1 + emp_no % 3, 'Engineer', 'Senior Engineer', 'Staff'), hire_date, NULL FROM employees;
INSERT INTO salaries SELECT emp_no, 40000 + emp_no * 37 % 90000, DATE_ADD(hire_date, INTERVAL y YEAR), DATE_ADD(hire_date, INTERVAL y + 1 YEAR) FROM employees, (SELECT 0 AS y UNION ALL SELECT 1 UNION ALL SELECT 2) years;
