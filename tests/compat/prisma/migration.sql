-- What Prisma's schema engine writes for schema.prisma: the engine itself is no part of its packages.
CREATE TABLE `Author` (
    `id` INTEGER NOT NULL AUTO_INCREMENT,
    `name` VARCHAR(50) NOT NULL,
    `role` ENUM('READER', 'WRITER') NOT NULL DEFAULT 'READER',
    `active` BOOLEAN NOT NULL DEFAULT true,
    `createdAt` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    `mentorId` INTEGER NULL,

    UNIQUE INDEX `Author_name_key`(`name`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Profile` (
    `authorId` INTEGER NOT NULL,
    `bio` TEXT NOT NULL,

    PRIMARY KEY (`authorId`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Book` (
    `id` INTEGER NOT NULL AUTO_INCREMENT,
    `title` VARCHAR(191) NOT NULL,
    `pages` INTEGER NOT NULL DEFAULT 0,
    `price` DECIMAL(10, 2) NOT NULL DEFAULT 0,
    `authorId` INTEGER NOT NULL,

    INDEX `Book_pages_idx`(`pages` DESC),
    UNIQUE INDEX `Book_authorId_title_key`(`authorId`, `title`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Tag` (
    `id` VARCHAR(191) NOT NULL,
    `name` VARCHAR(191) NOT NULL,

    UNIQUE INDEX `Tag_name_key`(`name`),
    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `Types` (
    `id` BIGINT UNSIGNED NOT NULL,
    `d` DECIMAL(20, 5) NOT NULL,
    `f` DOUBLE NOT NULL,
    `t` LONGTEXT NOT NULL,
    `b` LONGBLOB NOT NULL,
    `da` DATE NOT NULL,
    `dt` DATETIME(3) NOT NULL,
    `ts` TIMESTAMP(0) NOT NULL,
    `ti` TIME(0) NOT NULL,
    `j` JSON NOT NULL,
    `bo` BOOLEAN NOT NULL,
    `n` INTEGER NULL,
    `small` SMALLINT NOT NULL,
    `y` YEAR NOT NULL,
    `role` ENUM('READER', 'WRITER') NOT NULL,
    `single` FLOAT NOT NULL,

    PRIMARY KEY (`id`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE `_BookToTag` (
    `A` INTEGER NOT NULL,
    `B` VARCHAR(191) NOT NULL,

    UNIQUE INDEX `_BookToTag_AB_unique`(`A`, `B`),
    INDEX `_BookToTag_B_index`(`B`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

ALTER TABLE `Author` ADD CONSTRAINT `Author_mentorId_fkey` FOREIGN KEY (`mentorId`) REFERENCES `Author`(`id`) ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE `Profile` ADD CONSTRAINT `Profile_authorId_fkey` FOREIGN KEY (`authorId`) REFERENCES `Author`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE `Book` ADD CONSTRAINT `Book_authorId_fkey` FOREIGN KEY (`authorId`) REFERENCES `Author`(`id`) ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE `_BookToTag` ADD CONSTRAINT `_BookToTag_A_fkey` FOREIGN KEY (`A`) REFERENCES `Book`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE `_BookToTag` ADD CONSTRAINT `_BookToTag_B_fkey` FOREIGN KEY (`B`) REFERENCES `Tag`(`id`) ON DELETE CASCADE ON UPDATE CASCADE;
