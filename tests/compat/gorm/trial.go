// The trial of GORM.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

type User struct {
	gorm.Model
	Name  string `gorm:"size:50;uniqueIndex"`
	Age   int    `gorm:"check:age >= 0;default:1"`
	Posts []Post `gorm:"constraint:OnDelete:CASCADE"`
}

type Post struct {
	ID     uint
	UserID uint
	Title  string `gorm:"index;size:100"`
	Tags   []Tag  `gorm:"many2many:post_tags"`
}

type Tag struct {
	ID    uint
	Label string
}

func main() {
	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true&charset=utf8mb4", os.Getenv("DBUSER"), os.Getenv("PASSWORD"), os.Getenv("HOST"), os.Getenv("PORT"), os.Getenv("DATABASE"))
	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Default.LogMode(logger.Silent), TranslateError: true})
	if err != nil {
		fmt.Println("not ok - connect:", err)
		os.Exit(1)
	}
	check("AutoMigrate", func() error { return db.AutoMigrate(&User{}, &Post{}, &Tag{}) })
	check("AutoMigrate once more", func() error { return db.AutoMigrate(&User{}, &Post{}, &Tag{}) })
	check("create with associations", func() error {
		return db.Create([]User{{Name: "Ada", Age: 30, Posts: []Post{{Title: "one", Tags: []Tag{{Label: "red"}}}, {Title: "two"}}}, {Name: "Bo"}}).Error
	})
	check("preload, joins, pages", func() error {
		var users []User
		if err := db.Preload("Posts.Tags").Order("name").Limit(1).Find(&users).Error; err != nil {
			return err
		}
		if err := equal(len(users[0].Posts), 2); err != nil {
			return err
		}
		var n int64
		if err := db.Model(&User{}).Joins("LEFT JOIN posts ON posts.user_id = users.id").Where("posts.title = ?", "two").Count(&n).Error; err != nil {
			return err
		}
		return equal(n, 1)
	})
	check("subqueries and grouping", func() error {
		var names []string
		if err := db.Model(&User{}).Where("id IN (?)", db.Model(&Post{}).Select("user_id")).Pluck("name", &names).Error; err != nil {
			return err
		}
		if err := equal(strings.Join(names, ","), "Ada"); err != nil {
			return err
		}
		var row struct{ N int }
		if err := db.Model(&Post{}).Select("COUNT(*) AS n").Group("user_id").Having("n > ?", 1).Scan(&row).Error; err != nil {
			return err
		}
		return equal(row.N, 2)
	})
	check("upsert, update, soft delete", func() error {
		if err := db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&User{Name: "Bo", Age: 7}).Error; err != nil {
			return err
		}
		if err := db.Model(&User{}).Where("name = ?", "Bo").Update("age", gorm.Expr("age + ?", 1)).Error; err != nil {
			return err
		}
		var u User
		if err := db.First(&u, "name = ?", "Bo").Error; err != nil {
			return err
		}
		if err := equal(u.Age, 8); err != nil {
			return err
		}
		return db.Delete(&u).Error
	})
	check("errors", func() error {
		if err := db.Create(&User{Name: "Ada"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
			return fmt.Errorf("%v", err)
		}
		if err := db.Create(&Post{UserID: 99}).Error; !errors.Is(err, gorm.ErrForeignKeyViolated) {
			return fmt.Errorf("%v", err)
		}
		if err := db.Create(&User{Name: "Neg", Age: -1}).Error; err == nil {
			return errors.New("a negative age was accepted")
		}
		return nil
	})
	check("transactions, savepoints, locks", func() error {
		err := db.Transaction(func(tx *gorm.DB) error {
			var u User
			if err := tx.Clauses(clause.Locking{Strength: "UPDATE", Options: "NOWAIT"}).First(&u).Error; err != nil {
				return err
			}
			_ = tx.Transaction(func(tx *gorm.DB) error { tx.Exec("DELETE FROM posts"); return errors.New("undo") })
			var n int64
			tx.Model(&Post{}).Count(&n)
			return equal(n, 2)
		})
		return err
	})
	check("migrator", func() error {
		m := db.Migrator()
		if !m.HasConstraint(&User{}, "Posts") || !m.HasIndex(&Post{}, "Title") {
			return errors.New("a constraint or an index is not found")
		}
		type User struct {
			Name string `gorm:"size:80;not null"`
			Mail *string
		}
		if err := m.AddColumn(&User{}, "Mail"); err != nil {
			return err
		}
		if err := m.AlterColumn(&User{}, "Name"); err != nil {
			return err
		}
		if err := m.RenameColumn(&User{}, "mail", "email"); err != nil {
			return err
		}
		types, err := m.ColumnTypes(&User{})
		if err != nil {
			return err
		}
		if err := equal(len(types), 7); err != nil {
			return err
		}
		return m.DropTable("post_tags", "posts", "tags", "users")
	})
	if failed {
		os.Exit(1)
	}
}
