<?php
// Doctrine: its mapper of objects, its schema tool and its layer over the database.
require __DIR__ . '/../checks.php';
require 'Doctrine/ORM/autoload.php';
require 'Symfony/Component/Cache/autoload.php';
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED); // the distribution's packages are older than their PHP

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\Common\Collections\Collection;
use Doctrine\Common\Collections\Criteria;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception as Failure;
use Doctrine\DBAL\LockMode;
use Doctrine\DBAL\TransactionIsolationLevel;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as Map;
use Doctrine\ORM\OptimisticLockException;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\Pagination\Paginator;
use Doctrine\ORM\Tools\SchemaTool;

enum Kind: string
{
    case Novel = 'novel';
    case Poem = 'poem';
}

#[Map\Entity]
#[Map\Table(options: ['comment' => "who writes: it's a table"])]
class Author
{
    #[Map\Id, Map\GeneratedValue, Map\Column]
    public ?int $id = null;
    #[Map\Column(length: 50, unique: true)]
    public string $name;
    #[Map\Column(options: ['default' => true])]
    public bool $active = true;
    #[Map\Column(type: 'json', nullable: true)]
    public ?array $settings = null;
    #[Map\Version, Map\Column(type: 'integer')]
    public int $version = 1;
    #[Map\OneToMany(mappedBy: 'author', targetEntity: Book::class, cascade: ['persist', 'remove'])]
    #[Map\OrderBy(['title' => 'ASC'])]
    public Collection $books;
    #[Map\ManyToOne]
    #[Map\JoinColumn(onDelete: 'SET NULL')]
    public ?Author $mentor = null;

    public function __construct(string $name)
    {
        $this->name = $name;
        $this->books = new ArrayCollection();
    }
}

#[Map\Entity]
#[Map\Index(name: 'by_title', columns: ['title'], options: ['lengths' => [20]])]
#[Map\UniqueConstraint(columns: ['author_id', 'title'])]
class Book
{
    #[Map\Id, Map\GeneratedValue, Map\Column(type: 'bigint', options: ['unsigned' => true])]
    public ?string $id = null;
    #[Map\ManyToOne(inversedBy: 'books')]
    #[Map\JoinColumn(nullable: false, onDelete: 'CASCADE')]
    public Author $author;
    #[Map\Column(options: ['comment' => 'as printed'])]
    public string $title;
    #[Map\Column(type: 'decimal', precision: 10, scale: 2)]
    public string $price = '0.00';
    #[Map\Column(length: 10)]
    public Kind $kind = Kind::Novel;
    #[Map\ManyToMany(targetEntity: Tag::class, cascade: ['persist'])]
    public Collection $tags;

    public function __construct(Author $author, string $title, string $price)
    {
        [$this->author, $this->title, $this->price, $this->tags] = [$author, $title, $price, new ArrayCollection()];
        $author->books->add($this);
    }
}

#[Map\Entity]
class Tag
{
    #[Map\Id, Map\GeneratedValue, Map\Column]
    public ?int $id = null;
    #[Map\Column(length: 30, unique: true)]
    public string $name;

    public function __construct(string $name)
    {
        $this->name = $name;
    }
}

#[Map\Entity]
#[Map\InheritanceType('JOINED')]
#[Map\DiscriminatorColumn(name: 'kind', type: 'string', length: 10)]
#[Map\DiscriminatorMap(['person' => Person::class, 'owner' => Owner::class])]
class Person
{
    #[Map\Id, Map\GeneratedValue, Map\Column]
    public ?int $id = null;
    #[Map\Column]
    public string $name = '';
}

#[Map\Entity]
class Owner extends Person
{
    #[Map\Column(type: 'datetime_immutable')]
    public DateTimeImmutable $since;
    #[Map\Column(type: 'guid')]
    public string $token = '0b9d1d52-7a04-4c33-8a4e-0d36a7a1c8a1';
    #[Map\Column(type: 'blob')]
    public $picture;
    #[Map\Column(type: 'float')]
    public float $weight = 0.1;
    #[Map\Column(type: 'smallint', options: ['unsigned' => true])]
    public int $small = 65535;
    #[Map\Column(type: 'date_immutable')]
    public DateTimeImmutable $born;
    #[Map\Column(type: 'time_immutable')]
    public DateTimeImmutable $wakes;
    #[Map\Column(type: 'simple_array')]
    public array $words = [];
    #[Map\Column(type: 'text')]
    public string $text = '';
}

$connect = fn () => DriverManager::getConnection(['driver' => 'pdo_mysql', 'host' => getenv('HOST'), 'port' => getenv('PORT'), 'dbname' => getenv('DATABASE'), 'user' => getenv('DBUSER'), 'password' => getenv('PASSWORD'), 'charset' => 'utf8mb4']);
$config = ORMSetup::createAttributeMetadataConfiguration([], true, sys_get_temp_dir());
$db = $connect();
$em = new EntityManager($db, $config);
$classes = array_map(fn ($class) => $em->getClassMetadata($class), [Author::class, Book::class, Tag::class, Person::class, Owner::class]);
$tool = new SchemaTool($em);

check('the schema is made, and is the one of the classes', function () use ($db, $tool, $classes) {
    equal(str_contains($db->getDatabasePlatform()::class, 'MySQL80'), true);
    $tool->createSchema($classes);
    equal($tool->getUpdateSchemaSql($classes), []);
});

check('objects there and back', function () use ($em) {
    $m = new Owner();
    $m->name = "Ünï 🚀 '\\\"";
    $m->since = new DateTimeImmutable('2026-02-28 23:59:59');
    $m->picture = "\0\xff'\\";
    $m->born = new DateTimeImmutable('1999-12-31');
    $m->wakes = new DateTimeImmutable('1970-01-01 07:30:00');
    $m->words = ['a', 'ß'];
    $m->text = str_repeat('x', 60000);
    $em->persist($m);
    $em->persist(new Person());
    $em->flush();
    $em->clear();
    $got = $em->getRepository(Person::class)->findOneBy(['name' => $m->name]);
    equal([$got::class, $got->since->format('c'), stream_get_contents($got->picture), $got->weight, $got->small, $got->born->format('c'), $got->wakes->format('H:i:s'), $got->words, strlen($got->text)],
        [Owner::class, $m->since->format('c'), $m->picture, 0.1, 65535, $m->born->format('c'), '07:30:00', ['a', 'ß'], 60000]);
    equal($em->createQuery('SELECT COUNT(p) FROM Person p WHERE p INSTANCE OF Owner')->getSingleScalarResult(), 1);
});

check('relations', function () use ($em) {
    $ada = new Author('Ada');
    $ada->settings = ['colour' => 'red', 'sizes' => [1, 2]];
    $bo = new Author('Bo');
    $bo->mentor = $ada;
    [$new, $short] = [new Tag('new'), new Tag('short')];
    foreach ([[$ada, 'one', '1.50', [$new, $short]], [$ada, 'two', '2.25', [$new]], [$bo, 'three', '3.00', []]] as [$author, $title, $price, $tags]) {
        $book = new Book($author, $title, $price);
        array_map($book->tags->add(...), $tags);
    }
    $em->persist($bo);
    $em->persist($ada);
    $em->flush();
    $em->clear();
    $authors = $em->createQuery('SELECT a, b, t FROM Author a LEFT JOIN a.books b LEFT JOIN b.tags t ORDER BY a.name, b.title, t.name')->getResult();
    equal(array_map(fn ($a) => [$a->name, $a->mentor?->name, $a->settings, $a->books->map(fn ($b) => $b->title . ':' . implode(',', $b->tags->map(fn ($t) => $t->name)->toArray()))->toArray()], $authors),
        [['Ada', null, ['sizes' => [1, 2], 'colour' => 'red'], ['one:new,short', 'two:new']], ['Bo', 'Ada', null, ['three:']]]);
    $sums = $em->createQuery('SELECT a.name, COUNT(b) AS n, SUM(b.price) AS total FROM Author a JOIN a.books b GROUP BY a.id HAVING COUNT(b) > 1')->getResult();
    equal($sums, [['name' => 'Ada', 'n' => 2, 'total' => '3.75']]);
    $names = fn ($dql) => array_column($em->createQuery($dql)->getScalarResult(), 'name');
    equal($names('SELECT a.name FROM Author a WHERE EXISTS (SELECT b.id FROM Book b WHERE b.author = a AND b.price > 2.5)'), ['Bo']);
    equal($names('SELECT a.name FROM Author a WHERE SIZE(a.books) = 2'), ['Ada']);
    equal($names("SELECT CONCAT(a.name, '-', UPPER(b.title)) AS name FROM Author a JOIN a.books b WHERE b.kind = 'novel' AND b.title LIKE 't%' ORDER BY b.title DESC"), ['Ada-TWO', 'Bo-THREE']);
});

check('pages', function () use ($em, $db) {
    $ada = $em->getRepository(Author::class)->findOneBy(['name' => 'Ada']);
    for ($i = 0; $i < 50; $i++) {
        $em->persist(new Book($ada, sprintf('b%02d', $i), "$i.00"));
    }
    $em->flush();
    $em->clear();
    $query = $em->createQuery('SELECT b, t FROM Book b LEFT JOIN b.tags t ORDER BY b.price DESC, b.id')->setFirstResult(10)->setMaxResults(5);
    $page = new Paginator($query, true);
    equal([count($page), array_map(fn ($b) => $b->title, iterator_to_array($page))], [53, ['b39', 'b38', 'b37', 'b36', 'b35']]);
    $n = 0;
    foreach ($em->createQuery('SELECT b FROM Book b')->toIterable() as $book) {
        $n++;
    }
    equal($n, 53);
    equal($db->createQueryBuilder()->select('title')->from('Book')->where('price > :p')->orderBy('id', 'DESC')->setParameter('p', 45)->setMaxResults(2)->fetchFirstColumn(), ['b49', 'b48']);
    equal(array_column($em->getRepository(Book::class)->matching(Criteria::create()->where(Criteria::expr()->in('title', ['one', 'b01']))->orderBy(['title' => 'ASC']))->toArray(), 'title'), ['b01', 'one']);
});

check('changes, optimistic locks', function () use ($em, $db) {
    $bo = $em->getRepository(Author::class)->findOneBy(['name' => 'Bo']);
    $before = $bo->version;
    $bo->active = false;
    $em->flush();
    equal($bo->version, $before + 1);
    $db->executeStatement('UPDATE Author SET version = 9 WHERE id = ?', [$bo->id]);
    $bo->name = 'Bob';
    try {
        $em->flush();
        throw new Exception('accepted');
    } catch (OptimisticLockException) {
    }
});

$em = new EntityManager($db, $config); // the other is closed after its error

check('errors', function () use ($db) {
    $kinds = [
        "INSERT INTO Author (name) VALUES ('Ada')" => Failure\UniqueConstraintViolationException::class,
        "INSERT INTO Book (author_id, title, price, kind) VALUES (99, 'x', 0, 'novel')" => Failure\ForeignKeyConstraintViolationException::class,
        'INSERT INTO Tag (name) VALUES (NULL)' => Failure\NotNullConstraintViolationException::class,
        'SELECT * FROM nowhere' => Failure\TableNotFoundException::class,
        'SELECT nothing FROM Tag' => Failure\InvalidFieldNameException::class,
        'SELEC 1' => Failure\SyntaxErrorException::class,
        'CREATE TABLE Tag (id INT)' => Failure\TableExistsException::class,
        'SELECT name FROM Author a JOIN Tag t' => Failure\NonUniqueFieldNameException::class,
    ];
    foreach ($kinds as $sql => $kind) {
        try {
            $db->executeStatement($sql);
            throw new Exception("accepted: $sql");
        } catch (Failure\DriverException $e) {
            equal($e::class, $kind);
        }
    }
});

check('transactions, savepoints, locks', function () use ($em, $db, $connect) {
    $db->setNestTransactionsWithSavepoints(true);
    $db->beginTransaction();
    $db->beginTransaction();
    $db->executeStatement('DELETE FROM Author');
    $db->rollBack();
    equal($db->fetchOne('SELECT COUNT(*) FROM Book'), 53);
    $db->commit();
    $db->setTransactionIsolation(TransactionIsolationLevel::READ_COMMITTED);
    equal($db->fetchOne('SELECT @@transaction_isolation'), 'READ-COMMITTED');
    $other = $connect();
    $em->wrapInTransaction(function ($em) use ($other) {
        $ada = $em->getRepository(Author::class)->findOneBy(['name' => 'Ada']);
        $em->lock($ada, LockMode::PESSIMISTIC_WRITE);
        $other->executeStatement('SET SESSION innodb_lock_wait_timeout = 1');
        try {
            $other->executeStatement('UPDATE Author SET active = 0 WHERE id = ?', [$ada->id]);
            throw new Exception('accepted');
        } catch (Failure\LockWaitTimeoutException) {
        }
        $ada->settings = ['colour' => 'blue'];
    });
    equal($other->fetchOne("SELECT settings->>'$.colour' FROM Author WHERE name = 'Ada'"), 'blue');
    equal($em->createQuery("UPDATE Book b SET b.kind = 'poem' WHERE b.price > 40")->execute(), 9);
    equal($em->createQuery("DELETE FROM Book b WHERE b.kind = 'poem'")->execute(), 9);
});

check('the dictionary, and a change of the schema that it finds', function () use ($db) {
    $manager = $db->createSchemaManager();
    $names = array_map(fn ($t) => $t->getName(), $manager->listTables()); // asked for without an order
    sort($names);
    equal($names, ['Author', 'Book', 'Owner', 'Person', 'Tag', 'book_tag']);
    $old = $manager->introspectSchema();
    $book = $old->getTable('Book');
    equal([$book->getColumn('title')->getComment(), $book->getColumn('price')->getScale(), $book->getIndex('by_title')->getOptions(), $old->getTable('Author')->getOption('comment')], ['as printed', 2, ['lengths' => [20]], "who writes: it's a table"]);
    $keys = array_values(array_map(fn ($k) => [$k->getLocalColumns(), $k->getForeignTableName(), $k->onDelete()], $manager->listTableForeignKeys('Author')));
    equal($keys, [[['mentor_id'], 'Author', 'SET NULL']]);
    $new = clone $old;
    $book = $new->getTable('Book');
    $book->addColumn('pages', 'integer', ['unsigned' => true, 'default' => 0, 'comment' => "it's"]);
    $book->addColumn('added', 'datetime', ['default' => 'CURRENT_TIMESTAMP']);
    $book->changeColumn('title', ['length' => 300]);
    $book->renameIndex('by_title', 'titles');
    $book->addIndex(['pages', 'price'], 'by_pages');
    $new->getTable('Tag')->addColumn('parent_id', 'integer', ['notnull' => false]);
    $new->getTable('Tag')->addForeignKeyConstraint('Tag', ['parent_id'], ['id'], ['onUpdate' => 'CASCADE', 'onDelete' => 'RESTRICT'], 'tag_parent');
    $new->dropTable('Owner');
    $new->createTable('extra')->addColumn('id', 'integer', ['autoincrement' => true]);
    $new->getTable('extra')->setPrimaryKey(['id']);
    $manager->alterSchema($manager->createComparator()->compareSchemas($old, $new));
    $left = $manager->createComparator()->compareSchemas($manager->introspectSchema(), $new);
    equal($db->getDatabasePlatform()->getAlterSchemaSQL($left), []);
    $manager->createView(new Doctrine\DBAL\Schema\View('cheap', 'SELECT id, title FROM Book WHERE price < 2'));
    equal(array_map(fn ($v) => $v->getName(), array_values($manager->listViews())), ['cheap']);
    equal($db->fetchOne('SELECT COUNT(*) FROM cheap'), 3);
    $manager->dropView('cheap');
});

check('the schema is dropped', function () use ($tool, $db) {
    $tool->dropDatabase();
    equal($db->createSchemaManager()->listTableNames(), []);
});

finish();
