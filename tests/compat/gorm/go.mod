module compat/gorm

go 1.26

require (
	gorm.io/driver/mysql v1.6.0
	gorm.io/gorm v1.31.0
)
