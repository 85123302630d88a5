import static java.util.List.of;

import jakarta.persistence.*;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import org.hibernate.*;
import org.hibernate.annotations.*;
import org.hibernate.cfg.Configuration;

/** Entities by Hibernate. */
public class Trial extends Checks {
  enum Kind {
    SHORT, LONG
  }

  @Entity(name = "Author")
  @Table(name = "author", indexes = @jakarta.persistence.Index(name = "by_born", columnList = "born DESC"))
  public static class Author {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
    @Column(nullable = false, unique = true, length = 60) @Comment("how it is called") String name;
    LocalDate born;
    @Version int version;
    @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) List<Book> books = new ArrayList<>();
    @ElementCollection @CollectionTable(name = "author_nick") Set<String> nicks = new TreeSet<>();
  }

  @Entity(name = "Book")
  @Table(name = "book")
  public static class Book {
    @Id @GeneratedValue(strategy = GenerationType.UUID) UUID id;
    @ManyToOne(optional = false, fetch = FetchType.LAZY) Author author;
    String title;
    @Column(precision = 10, scale = 3) BigDecimal price;
    @Enumerated(EnumType.STRING) Kind kind = Kind.SHORT;
    Instant added = Instant.parse("2026-07-01T12:00:00.123456Z");
    Boolean sold = false;
    @Lob String body = "é".repeat(70000);
    @Lob byte[] cover = new byte[] {0, -1};
    @Column(columnDefinition = "json") String facts = "{\"a\": \"b\"}";
    @ManyToMany @JoinTable(name = "book_tag") Set<Tag> tags = new HashSet<>();
    Duration length = Duration.ofMinutes(90);
  }

  @Entity(name = "Tag")
  @Table(name = "tag")
  public static class Tag {
    @Id @GeneratedValue(strategy = GenerationType.TABLE) Integer id;
    @NaturalId String name;
  }

  @Entity(name = "Shape")
  @Inheritance(strategy = InheritanceType.JOINED)
  public static class Shape {
    @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
    String colour;
  }

  @Entity(name = "Circle")
  public static class Circle extends Shape {
    double radius;
  }

  static SessionFactory open(String action) {
    Configuration c = new Configuration();
    for (Class<?> entity : of(Author.class, Book.class, Tag.class, Shape.class, Circle.class)) c.addAnnotatedClass(entity);
    c.setProperty("hibernate.connection.url", "jdbc:mysql://" + HOST + ":" + PORT + "/" + DATABASE + "?rewriteBatchedStatements=true");
    c.setProperty("hibernate.connection.username", USER).setProperty("hibernate.connection.password", PASSWORD);
    c.setProperty("hibernate.hbm2ddl.auto", action).setProperty("hibernate.jdbc.batch_size", "20").setProperty("hibernate.hbm2ddl.halt_on_error", "true");
    c.setProperty("hibernate.jdbc.time_zone", "UTC");
    return c.buildSessionFactory();
  }

  public static void main(String[] args) throws Exception {
    java.util.logging.Logger.getLogger("").setLevel(java.util.logging.Level.SEVERE);
    SessionFactory[] f = new SessionFactory[1];
    check("create, update and validate the schema", () -> {
      open("create-only").close();
      open("update").close();
      f[0] = open("validate");
    });
    check("persist and find", () -> {
      f[0].inTransaction(s -> {
        for (String name : of("Ada", "Bo", "Cy")) {
          Author a = new Author();
          a.name = name;
          a.born = LocalDate.of(1900 + name.charAt(0), 1, 2);
          a.nicks.addAll(of(name + "1", name + "2"));
          for (int i = 0; i < name.length() * 10; i++) {
            Book b = new Book();
            b.author = a;
            b.title = name + " " + i;
            b.price = new BigDecimal(i + ".125");
            b.kind = i % 2 == 0 ? Kind.SHORT : Kind.LONG;
            a.books.add(b);
          }
          s.persist(a);
        }
        Tag t = new Tag();
        t.name = "red";
        s.persist(t);
        Circle c = new Circle();
        c.colour = "blue";
        c.radius = 1.5;
        s.persist(c);
        s.flush();
        s.createQuery("from Book where title like 'Ada%' and price < 3", Book.class).list().forEach(b -> b.tags.add(t));
      });
      f[0].inTransaction(s -> {
        Author ada = s.createQuery("from Author a join fetch a.books where a.name = :n", Author.class).setParameter("n", "Ada").getSingleResult();
        Book b = ada.books.stream().filter(x -> x.title.equals("Ada 0")).findFirst().get();
        equal(ada.books.size() + " " + new TreeSet<>(ada.nicks) + " " + b.price + " " + b.kind + " " + b.added + " " + b.sold + " " + b.body.length() + " " + b.cover.length + " " + b.facts + " " + b.length,
            "30 [Ada1, Ada2] 0.125 SHORT 2026-07-01T12:00:00.123456Z false 70000 2 {\"a\": \"b\"} PT1H30M");
        equal(s.bySimpleNaturalId(Tag.class).load("red").name, "red");
        equal(s.createQuery("from Shape", Shape.class).getSingleResult() instanceof Circle c && c.radius == 1.5, true);
      });
    });
    check("queries", () -> f[0].inTransaction(s -> {
      equal(s.createQuery("select b.title from Book b where b.author.name = 'Ada' order by b.price desc", String.class).setFirstResult(5).setMaxResults(2).list(), of("Ada 24", "Ada 23"));
      equal(s.createQuery("select a.name, count(b), sum(b.price), avg(b.price) from Author a left join a.books b group by a.name having count(b) > 20 order by 2 desc, 1", Object[].class).list().get(0)[1], 30L);
      equal(s.createQuery("select a.name from Author a where exists (from Book b join b.tags t where b.author = a and t.name = 'red') and a.id in (select min(x.id) from Author x)", String.class).list(), of("Ada"));
      equal(s.createQuery("select a.name from Author a where size(a.books) = 20 and 'Bo1' member of a.nicks", String.class).list(), of("Bo"));
      equal(s.createQuery("select n from (select b.title as n, row_number() over (partition by b.author.id order by b.price) as r from Book b) where r = 1 order by n", String.class).list(), of("Ada 0", "Bo 0", "Cy 0"));
      equal(s.createQuery("with young as (select a.id as id, a.name as name from Author a where a.born > :d) select name from young order by name", String.class).setParameter("d", LocalDate.of(1966, 1, 1)).list(), of("Bo", "Cy"));
      equal(s.createQuery("select name from Author union all select name from Tag order by 1", String.class).list(), of("Ada", "Bo", "Cy", "red"));
      equal(s.createQuery("select extract(year from b.added), upper(substring(b.title, 1, 2)), coalesce(b.title, 'x') || '!', cast(b.price as Integer), year(b.added) + 1, timestampadd(day, 1, b.added) > b.added from Book b where b.title = 'Bo 1'", Object[].class).list().get(0)[1], "BO");
      equal(s.createNativeQuery("SELECT name FROM author WHERE id = :id", String.class).setParameter("id", 2).getSingleResult(), "Bo");
      try (ScrollableResults<Book> r = s.createQuery("from Book order by title", Book.class).setFetchSize(7).scroll(ScrollMode.FORWARD_ONLY)) {
        int n = 0;
        while (r.next()) n++;
        equal(n, 70);
      }
    }));
    check("statements over many rows", () -> f[0].inTransaction(s -> {
      equal(s.createMutationQuery("update Book b set b.price = b.price + 1, b.sold = true where b.author.id = (select a.id from Author a where a.name = 'Cy')").executeUpdate(), 20);
      equal(s.createMutationQuery("insert into Tag (id, name) values (900, 'green'), (901, 'blue')").executeUpdate(), 2);
      equal(s.createMutationQuery("insert into Tag (id, name) values (900, 'lime') on conflict (id) do update set name = excluded.name").executeUpdate() > 0, true);
      equal(s.createMutationQuery("delete from Book b where b.title like 'Cy 1_'").executeUpdate(), 10);
      equal(s.createMutationQuery("update Circle set radius = 2, colour = 'red'").executeUpdate(), 1);
      equal(s.createMutationQuery("delete from Circle where radius > 1").executeUpdate(), 1);
    }));
    check("optimistic locks", () -> {
      try (Session a = f[0].openSession(); Session b = f[0].openSession()) {
        a.beginTransaction();
        b.beginTransaction();
        Author x = a.find(Author.class, 1L), y = b.find(Author.class, 1L);
        x.born = LocalDate.of(2000, 1, 1);
        y.born = LocalDate.of(2001, 1, 1);
        a.getTransaction().commit();
        try {
          b.getTransaction().commit();
          throw new AssertionError("accepted");
        } catch (OptimisticLockException e) {
          equal(b.getTransaction().isActive(), false);
        }
      }
    });
    check("pessimistic locks", () -> {
      ExecutorService threads = Executors.newSingleThreadExecutor();
      try (Session a = f[0].openSession()) {
        a.beginTransaction();
        a.find(Author.class, 1L, LockModeType.PESSIMISTIC_WRITE);
        try (Session b = f[0].openSession()) {
          b.beginTransaction();
          try {
            b.createQuery("from Author where id = 1", Author.class).setLockMode(LockModeType.PESSIMISTIC_WRITE).setHint("jakarta.persistence.lock.timeout", 0).list();
            throw new AssertionError("accepted");
          } catch (PersistenceException e) { // NOWAIT
            b.getTransaction().rollback();
          }
          b.beginTransaction();
          equal(b.createQuery("select a from Author a where a.id < 3", Author.class).setHibernateLockMode(LockMode.UPGRADE_SKIPLOCKED).list().size(), 1);
          b.getTransaction().rollback();
        }
        Future<Integer> other = threads.submit(() -> f[0].fromTransaction(s -> s.createMutationQuery("update Author set name = 'Ada L.' where id = 1").executeUpdate()));
        try {
          other.get(300, TimeUnit.MILLISECONDS);
          throw new AssertionError("it has not waited");
        } catch (TimeoutException e) { // as it should
        }
        a.getTransaction().commit();
        equal(other.get(), 1);
      } finally {
        threads.shutdown();
      }
    });
    check("errors by kind; rollback", () -> {
      try {
        f[0].inTransaction(s -> {
          s.createMutationQuery("delete from Book b where b.title like 'Bo%'").executeUpdate();
          Author a = new Author();
          a.name = "Bo";
          s.persist(a);
        });
        throw new AssertionError("accepted");
      } catch (org.hibernate.exception.ConstraintViolationException e) {
        equal(e.getConstraintName().contains("author"), true);
      }
      f[0].inTransaction(s -> equal(s.createQuery("select count(*) from Book b where b.author.name = 'Bo'", Long.class).getSingleResult(), 20L));
    });
    check("removal and cascades", () -> {
      f[0].inTransaction(s -> s.remove(s.createQuery("from Author where name = 'Bo'", Author.class).getSingleResult()));
      f[0].inTransaction(s -> equal(s.createQuery("select count(*) from Book b", Long.class).getSingleResult(), 40L));
    });
    check("drop", () -> {
      f[0].getSchemaManager().truncateMappedObjects();
      f[0].getSchemaManager().dropMappedObjects(true);
      f[0].close();
      try (java.sql.Connection db = java.sql.DriverManager.getConnection("jdbc:mysql://" + HOST + ":" + PORT + "/" + DATABASE, USER, PASSWORD)) {
        equal(rows(db, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"), of("0"));
      }
    });
    end();
  }
}
