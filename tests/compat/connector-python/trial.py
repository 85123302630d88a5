import mysql.connector

from checks import DATABASE, HOST, PASSWORD, PORT, USER, check, equal
from dbapi import trial


def connect():
    return mysql.connector.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DATABASE)


@check("query attributes")
def _():
    con = connect()
    for prepared in (False, True):
        cur = con.cursor(prepared=prepared)
        cur.add_attribute("trace", "4bf9 ü")
        cur.add_attribute("n", -5)
        sql = "SELECT mysql_query_attribute_string('trace'), mysql_query_attribute_string('N'), mysql_query_attribute_string('none'), %s"
        cur.execute(sql, (7,))
        equal(cur.fetchall(), [("4bf9 ü", "-5", None, 7)])
        cur.clear_attributes()
        cur.execute(sql, (7,))
        equal(cur.fetchall(), [(None, None, None, 7)])
        cur.close()
    con.close()


trial(connect, mysql.connector.IntegrityError)
