package types

// Numbers of the errors that a server sends. 1000 to 4999 are MySQL's; 8xxx and
// 9xxx are TiDB's, for errors of a distributed database that MySQL does not have.
// errorTable below has their SQLSTATEs and texts.
const (
	ErNo                                                  uint16 = 1002
	ErYes                                                 uint16 = 1003
	ErCantCreateFile                                      uint16 = 1004
	ErCantCreateTable                                     uint16 = 1005
	ErCantCreateDB                                        uint16 = 1006
	ErDBCreateExists                                      uint16 = 1007
	ErDBDropExists                                        uint16 = 1008
	ErDBDropRmdir                                         uint16 = 1010
	ErCantFindSystemRec                                   uint16 = 1012
	ErCantGetStat                                         uint16 = 1013
	ErCantLock                                            uint16 = 1015
	ErCantOpenFile                                        uint16 = 1016
	ErFileNotFound                                        uint16 = 1017
	ErCantReadDir                                         uint16 = 1018
	ErCheckRead                                           uint16 = 1020
	ErDiskFull                                            uint16 = 1021
	ErDupKey                                              uint16 = 1022
	ErErrorOnRead                                         uint16 = 1024
	ErErrorOnRename                                       uint16 = 1025
	ErErrorOnWrite                                        uint16 = 1026
	ErFileUsed                                            uint16 = 1027
	ErFilsortAbort                                        uint16 = 1028
	ErGetErrno                                            uint16 = 1030
	ErIllegalHA                                           uint16 = 1031
	ErKeyNotFound                                         uint16 = 1032
	ErNotFormFile                                         uint16 = 1033
	ErNotKeyfile                                          uint16 = 1034
	ErOldKeyfile                                          uint16 = 1035
	ErOpenAsReadonly                                      uint16 = 1036
	ErOutOfMemory                                         uint16 = 1037
	ErOutOfSortMemory                                     uint16 = 1038
	ErConCount                                            uint16 = 1040
	ErOutOfResources                                      uint16 = 1041
	ErBadHost                                             uint16 = 1042
	ErHandshake                                           uint16 = 1043
	ErDBAccessDenied                                      uint16 = 1044
	ErAccessDenied                                        uint16 = 1045
	ErNoDB                                                uint16 = 1046
	ErUnknownCom                                          uint16 = 1047
	ErBadNull                                             uint16 = 1048
	ErBadDB                                               uint16 = 1049
	ErTableExists                                         uint16 = 1050
	ErBadTable                                            uint16 = 1051
	ErNonUniq                                             uint16 = 1052
	ErServerShutdown                                      uint16 = 1053
	ErBadField                                            uint16 = 1054
	ErWrongFieldWithGroup                                 uint16 = 1055
	ErWrongGroupField                                     uint16 = 1056
	ErWrongSumSelect                                      uint16 = 1057
	ErWrongValueCount                                     uint16 = 1058
	ErTooLongIdent                                        uint16 = 1059
	ErDupFieldName                                        uint16 = 1060
	ErDupKeyName                                          uint16 = 1061
	ErDupEntry                                            uint16 = 1062
	ErWrongFieldSpec                                      uint16 = 1063
	ErParseError                                          uint16 = 1064
	ErEmptyQuery                                          uint16 = 1065
	ErNonUniqTable                                        uint16 = 1066
	ErInvalidDefault                                      uint16 = 1067
	ErMultiplePriKey                                      uint16 = 1068
	ErTooManyKeys                                         uint16 = 1069
	ErTooManyKeyParts                                     uint16 = 1070
	ErTooLongKey                                          uint16 = 1071
	ErKeyColumnDoesNotExist                               uint16 = 1072
	ErBlobUsedAsKey                                       uint16 = 1073
	ErTooBigFieldLength                                   uint16 = 1074
	ErWrongAutoKey                                        uint16 = 1075
	ErReady                                               uint16 = 1076
	ErNormalShutdown                                      uint16 = 1077
	ErShutdownComplete                                    uint16 = 1079
	ErForcingClose                                        uint16 = 1080
	ErIPSock                                              uint16 = 1081
	ErNoSuchIndex                                         uint16 = 1082
	ErWrongFieldTerminators                               uint16 = 1083
	ErBlobsAndNoTerminated                                uint16 = 1084
	ErTextFileNotReadable                                 uint16 = 1085
	ErFileExists                                          uint16 = 1086
	ErLoadInfo                                            uint16 = 1087
	ErWrongSubKey                                         uint16 = 1089
	ErCantRemoveAllFields                                 uint16 = 1090
	ErCantDropFieldOrKey                                  uint16 = 1091
	ErInsertInfo                                          uint16 = 1092
	ErUpdateTableUsed                                     uint16 = 1093
	ErNoSuchThread                                        uint16 = 1094
	ErKillDenied                                          uint16 = 1095
	ErNoTablesUsed                                        uint16 = 1096
	ErTooBigSet                                           uint16 = 1097
	ErNoUniqueLogfile                                     uint16 = 1098
	ErTableNotLockedForWrite                              uint16 = 1099
	ErTableNotLocked                                      uint16 = 1100
	ErBlobCantHaveDefault                                 uint16 = 1101
	ErWrongDBName                                         uint16 = 1102
	ErWrongTableName                                      uint16 = 1103
	ErTooBigSelect                                        uint16 = 1104
	ErUnknownError                                        uint16 = 1105
	ErUnknownProcedure                                    uint16 = 1106
	ErWrongParamcountToProcedure                          uint16 = 1107
	ErWrongParametersToProcedure                          uint16 = 1108
	ErUnknownTable                                        uint16 = 1109
	ErFieldSpecifiedTwice                                 uint16 = 1110
	ErInvalidGroupFuncUse                                 uint16 = 1111
	ErUnsupportedExtension                                uint16 = 1112
	ErTableMustHaveColumns                                uint16 = 1113
	ErRecordFileFull                                      uint16 = 1114
	ErUnknownCharacterSet                                 uint16 = 1115
	ErTooManyTables                                       uint16 = 1116
	ErTooManyFields                                       uint16 = 1117
	ErTooBigRowsize                                       uint16 = 1118
	ErStackOverrun                                        uint16 = 1119
	ErWrongOuterJoin                                      uint16 = 1120
	ErNullColumnInIndex                                   uint16 = 1121
	ErCantFindUDF                                         uint16 = 1122
	ErCantInitializeUdf                                   uint16 = 1123
	ErFunctionNotDefined                                  uint16 = 1128
	ErHostIsBlocked                                       uint16 = 1129
	ErHostNotPrivileged                                   uint16 = 1130
	ErPasswordAnonymousUser                               uint16 = 1131
	ErPasswordNotAllowed                                  uint16 = 1132
	ErPasswordNoMatch                                     uint16 = 1133
	ErUpdateInfo                                          uint16 = 1134
	ErCantCreateThread                                    uint16 = 1135
	ErWrongValueCountOnRow                                uint16 = 1136
	ErCantReopenTable                                     uint16 = 1137
	ErInvalidUseOfNull                                    uint16 = 1138
	ErRegexpError                                         uint16 = 1139
	ErMixOfGroupFuncAndFields                             uint16 = 1140
	ErNonexistingGrant                                    uint16 = 1141
	ErTableaccessDenied                                   uint16 = 1142
	ErColumnaccessDenied                                  uint16 = 1143
	ErIllegalGrantForTable                                uint16 = 1144
	ErGrantWrongHostOrUser                                uint16 = 1145
	ErNoSuchTable                                         uint16 = 1146
	ErNonexistingTableGrant                               uint16 = 1147
	ErNotAllowedCommand                                   uint16 = 1148
	ErSyntaxError                                         uint16 = 1149
	ErAbortingConnection                                  uint16 = 1152
	ErNetPacketTooLarge                                   uint16 = 1153
	ErNetReadErrorFromPipe                                uint16 = 1154
	ErNetFcntlError                                       uint16 = 1155
	ErNetPacketsOutOfOrder                                uint16 = 1156
	ErNetUncompressError                                  uint16 = 1157
	ErNetReadError                                        uint16 = 1158
	ErNetReadInterrupted                                  uint16 = 1159
	ErNetErrorOnWrite                                     uint16 = 1160
	ErNetWriteInterrupted                                 uint16 = 1161
	ErTooLongString                                       uint16 = 1162
	ErTableCantHandleBlob                                 uint16 = 1163
	ErTableCantHandleAutoIncrement                        uint16 = 1164
	ErWrongColumnName                                     uint16 = 1166
	ErWrongKeyColumn                                      uint16 = 1167
	ErWrongMrgTable                                       uint16 = 1168
	ErDupUnique                                           uint16 = 1169
	ErBlobKeyWithoutLength                                uint16 = 1170
	ErPrimaryCantHaveNull                                 uint16 = 1171
	ErTooManyRows                                         uint16 = 1172
	ErRequiresPrimaryKey                                  uint16 = 1173
	ErUpdateWithoutKeyInSafeMode                          uint16 = 1175
	ErKeyDoesNotExist                                     uint16 = 1176
	ErCheckNoSuchTable                                    uint16 = 1177
	ErCheckNotImplemented                                 uint16 = 1178
	ErCantDoThisDuringATransaction                        uint16 = 1179
	ErErrorDuringCommit                                   uint16 = 1180
	ErErrorDuringRollback                                 uint16 = 1181
	ErErrorDuringFlushLogs                                uint16 = 1182
	ErNewAbortingConnection                               uint16 = 1184
	ErFtMatchingKeyNotFound                               uint16 = 1191
	ErLockOrActiveTransaction                             uint16 = 1192
	ErUnknownSystemVariable                               uint16 = 1193
	ErCrashedOnUsage                                      uint16 = 1194
	ErWarningNotCompleteRollback                          uint16 = 1196
	ErTransCacheFull                                      uint16 = 1197
	ErTooManyUserConnections                              uint16 = 1203
	ErSetConstantsOnly                                    uint16 = 1204
	ErLockWaitTimeout                                     uint16 = 1205
	ErLockTableFull                                       uint16 = 1206
	ErReadOnlyTransaction                                 uint16 = 1207
	ErWrongArguments                                      uint16 = 1210
	ErNoPermissionToCreateUser                            uint16 = 1211
	ErLockDeadlock                                        uint16 = 1213
	ErTableCantHandleFt                                   uint16 = 1214
	ErCannotAddForeign                                    uint16 = 1215
	ErNoReferencedRow                                     uint16 = 1216
	ErRowIsReferenced                                     uint16 = 1217
	ErConnectToSource                                     uint16 = 1218
	ErErrorWhenExecutingCommand                           uint16 = 1220
	ErWrongUsage                                          uint16 = 1221
	ErWrongNumberOfColumnsInSelect                        uint16 = 1222
	ErCantUpdateWithReadlock                              uint16 = 1223
	ErMixingNotAllowed                                    uint16 = 1224
	ErDupArgument                                         uint16 = 1225
	ErUserLimitReached                                    uint16 = 1226
	ErSpecificAccessDenied                                uint16 = 1227
	ErLocalVariable                                       uint16 = 1228
	ErGlobalVariable                                      uint16 = 1229
	ErNoDefault                                           uint16 = 1230
	ErWrongValueForVar                                    uint16 = 1231
	ErWrongTypeForVar                                     uint16 = 1232
	ErVarCantBeRead                                       uint16 = 1233
	ErCantUseOptionHere                                   uint16 = 1234
	ErNotSupportedYet                                     uint16 = 1235
	ErIncorrectGlobalLocalVar                             uint16 = 1238
	ErWrongFkDef                                          uint16 = 1239
	ErKeyRefDoNotMatchTableRef                            uint16 = 1240
	ErOperandColumns                                      uint16 = 1241
	ErSubqueryNo1Row                                      uint16 = 1242
	ErUnknownStmtHandler                                  uint16 = 1243
	ErCorruptHelpDB                                       uint16 = 1244
	ErAutoConvert                                         uint16 = 1246
	ErIllegalReference                                    uint16 = 1247
	ErDerivedMustHaveAlias                                uint16 = 1248
	ErSelectReduced                                       uint16 = 1249
	ErTablenameNotAllowedHere                             uint16 = 1250
	ErNotSupportedAuthMode                                uint16 = 1251
	ErSpatialCantHaveNull                                 uint16 = 1252
	ErCollationCharsetMismatch                            uint16 = 1253
	ErTooBigForUncompress                                 uint16 = 1256
	ErCutValueGroupConcat                                 uint16 = 1260
	ErWarnTooFewRecords                                   uint16 = 1261
	ErWarnTooManyRecords                                  uint16 = 1262
	ErWarnNullToNotnull                                   uint16 = 1263
	ErWarnDataOutOfRange                                  uint16 = 1264
	ErWarnDataTruncated                                   uint16 = 1265
	ErWarnUsingOtherHandler                               uint16 = 1266
	ErCantAggregate2Collations                            uint16 = 1267
	ErDropUser                                            uint16 = 1268
	ErRevokeGrants                                        uint16 = 1269
	ErCantAggregate3Collations                            uint16 = 1270
	ErCantAggregateNCollations                            uint16 = 1271
	ErVariableIsNotStruct                                 uint16 = 1272
	ErUnknownCollation                                    uint16 = 1273
	ErServerIsInSecureAuthMode                            uint16 = 1275
	ErWarnFieldResolved                                   uint16 = 1276
	ErWrongNameForIndex                                   uint16 = 1280
	ErWrongNameForCatalog                                 uint16 = 1281
	ErBadFtColumn                                         uint16 = 1283
	ErUnknownStorageEngine                                uint16 = 1286
	ErWarnDeprecatedSyntax                                uint16 = 1287
	ErNonUpdatableTable                                   uint16 = 1288
	ErFeatureDisabled                                     uint16 = 1289
	ErOptionPreventsStatement                             uint16 = 1290
	ErDuplicatedValueInType                               uint16 = 1291
	ErTruncatedWrongValue                                 uint16 = 1292
	ErTooMuchAutoTimestampCols                            uint16 = 1293
	ErInvalidOnUpdate                                     uint16 = 1294
	ErUnsupportedPs                                       uint16 = 1295
	ErGetErrmsg                                           uint16 = 1296
	ErGetTemporaryErrmsg                                  uint16 = 1297
	ErUnknownTimeZone                                     uint16 = 1298
	ErWarnInvalidTimestamp                                uint16 = 1299
	ErInvalidCharacterString                              uint16 = 1300
	ErWarnAllowedPacketOverflowed                         uint16 = 1301
	ErConflictingDeclarations                             uint16 = 1302
	ErSPNoRecursiveCreate                                 uint16 = 1303
	ErSPAlreadyExists                                     uint16 = 1304
	ErSPDoesNotExist                                      uint16 = 1305
	ErSPDropFailed                                        uint16 = 1306
	ErSPStoreFailed                                       uint16 = 1307
	ErSPLilabelMismatch                                   uint16 = 1308
	ErSPLabelRedefine                                     uint16 = 1309
	ErSPLabelMismatch                                     uint16 = 1310
	ErSPUninitVar                                         uint16 = 1311
	ErSPBadselect                                         uint16 = 1312
	ErSPBadreturn                                         uint16 = 1313
	ErSPBadstatement                                      uint16 = 1314
	ErQueryInterrupted                                    uint16 = 1317
	ErSPWrongNoOfArgs                                     uint16 = 1318
	ErSPCondMismatch                                      uint16 = 1319
	ErSPNoreturn                                          uint16 = 1320
	ErSPNoreturnend                                       uint16 = 1321
	ErSPBadCursorQuery                                    uint16 = 1322
	ErSPBadCursorSelect                                   uint16 = 1323
	ErSPCursorMismatch                                    uint16 = 1324
	ErSPCursorAlreadyOpen                                 uint16 = 1325
	ErSPCursorNotOpen                                     uint16 = 1326
	ErSPUndeclaredVar                                     uint16 = 1327
	ErSPWrongNoOfFetchArgs                                uint16 = 1328
	ErSPFetchNoData                                       uint16 = 1329
	ErSPDupParam                                          uint16 = 1330
	ErSPDupVar                                            uint16 = 1331
	ErSPDupCond                                           uint16 = 1332
	ErSPDupCurs                                           uint16 = 1333
	ErSPCantAlter                                         uint16 = 1334
	ErSPSubselectNyi                                      uint16 = 1335
	ErStmtNotAllowedInSFOrTrg                             uint16 = 1336
	ErSPCaseNotFound                                      uint16 = 1339
	ErWrongObject                                         uint16 = 1347
	ErNonupdateableColumn                                 uint16 = 1348
	ErViewSelectDerived                                   uint16 = 1349
	ErViewSelectClause                                    uint16 = 1350
	ErViewSelectVariable                                  uint16 = 1351
	ErViewSelectTmptable                                  uint16 = 1352
	ErViewWrongList                                       uint16 = 1353
	ErViewInvalid                                         uint16 = 1356
	ErSPNoDropSP                                          uint16 = 1357
	ErTrgAlreadyExists                                    uint16 = 1359
	ErTrgDoesNotExist                                     uint16 = 1360
	ErTrgOnViewOrTempTable                                uint16 = 1361
	ErTrgCantChangeRow                                    uint16 = 1362
	ErTrgNoSuchRowInTrg                                   uint16 = 1363
	ErNoDefaultForField                                   uint16 = 1364
	ErDivisionByZero                                      uint16 = 1365
	ErTruncatedWrongValueForField                         uint16 = 1366
	ErIllegalValueForType                                 uint16 = 1367
	ErViewNonupdCheck                                     uint16 = 1368
	ErViewCheckFailed                                     uint16 = 1369
	ErProcaccessDenied                                    uint16 = 1370
	ErRelayLogFail                                        uint16 = 1371
	ErPasswdLength                                        uint16 = 1372
	ErUnknownTargetBinlog                                 uint16 = 1373
	ErNoBinaryLogging                                     uint16 = 1381
	ErReservedSyntax                                      uint16 = 1382
	ErPsManyParam                                         uint16 = 1390
	ErKeyPart0                                            uint16 = 1391
	ErViewChecksum                                        uint16 = 1392
	ErViewMultiupdate                                     uint16 = 1393
	ErViewNoInsertFieldList                               uint16 = 1394
	ErViewDeleteMergeView                                 uint16 = 1395
	ErCannotUser                                          uint16 = 1396
	ErXAERNota                                            uint16 = 1397
	ErXAERInval                                           uint16 = 1398
	ErXAERRmfail                                          uint16 = 1399
	ErXAEROutside                                         uint16 = 1400
	ErXAERRmerr                                           uint16 = 1401
	ErXARbrollback                                        uint16 = 1402
	ErNonexistingProcGrant                                uint16 = 1403
	ErDataTooLong                                         uint16 = 1406
	ErSPBadSQLState                                       uint16 = 1407
	ErLoadFromFixedSizeRowsToVar                          uint16 = 1409
	ErCantCreateUserWithGrant                             uint16 = 1410
	ErWrongValueForType                                   uint16 = 1411
	ErTableDefChanged                                     uint16 = 1412
	ErSPDupHandler                                        uint16 = 1413
	ErSPNotVarArg                                         uint16 = 1414
	ErSPNoRetset                                          uint16 = 1415
	ErCantCreateGeometryObject                            uint16 = 1416
	ErStmtHasNoOpenCursor                                 uint16 = 1421
	ErCommitNotAllowedInSFOrTrg                           uint16 = 1422
	ErNoDefaultForViewField                               uint16 = 1423
	ErSPNoRecursion                                       uint16 = 1424
	ErTooBigScale                                         uint16 = 1425
	ErTooBigPrecision                                     uint16 = 1426
	ErMBiggerThanD                                        uint16 = 1427
	ErWrongLockOfSystemTable                              uint16 = 1428
	ErConnectToForeignDataSource                          uint16 = 1429
	ErTrgInWrongSchema                                    uint16 = 1435
	ErStackOverrunNeedMore                                uint16 = 1436
	ErTooLongBody                                         uint16 = 1437
	ErWarnCantDropDefaultKeycache                         uint16 = 1438
	ErTooBigDisplaywidth                                  uint16 = 1439
	ErXAERDupid                                           uint16 = 1440
	ErDatetimeFunctionOverflow                            uint16 = 1441
	ErCantUpdateUsedTableInSFOrTrg                        uint16 = 1442
	ErViewPreventUpdate                                   uint16 = 1443
	ErPsNoRecursion                                       uint16 = 1444
	ErMalformedDefiner                                    uint16 = 1446
	ErNoSuchUser                                          uint16 = 1449
	ErForbidSchemaChange                                  uint16 = 1450
	ErRowIsReferenced2                                    uint16 = 1451
	ErNoReferencedRow2                                    uint16 = 1452
	ErSPBadVarShadow                                      uint16 = 1453
	ErSPWrongName                                         uint16 = 1458
	ErTableNeedsUpgrade                                   uint16 = 1459
	ErSPNoAggregate                                       uint16 = 1460
	ErMaxPreparedStmtCountReached                         uint16 = 1461
	ErViewRecursive                                       uint16 = 1462
	ErNonGroupingFieldUsed                                uint16 = 1463
	ErTableCantHandleSpkeys                               uint16 = 1464
	ErNoTriggersOnSystemSchema                            uint16 = 1465
	ErRemovedSpaces                                       uint16 = 1466
	ErAutoincReadFailed                                   uint16 = 1467
	ErUsername                                            uint16 = 1468
	ErHostname                                            uint16 = 1469
	ErWrongStringLength                                   uint16 = 1470
	ErNonInsertableTable                                  uint16 = 1471
	ErTooHighLevelOfNestingForSelect                      uint16 = 1473
	ErNameBecomesEmpty                                    uint16 = 1474
	ErAmbiguousFieldTerm                                  uint16 = 1475
	ErIllegalHACreateOption                               uint16 = 1478
	ErPartitionRequiresValues                             uint16 = 1479
	ErPartitionMaxvalue                                   uint16 = 1481
	ErPartitionWrongNoPart                                uint16 = 1484
	ErWrongExprInPartitionFunc                            uint16 = 1486
	ErFieldNotFoundPart                                   uint16 = 1488
	ErPartitionFuncNotAllowed                             uint16 = 1491
	ErPartitionsMustBeDefined                             uint16 = 1492
	ErRangeNotIncreasing                                  uint16 = 1493
	ErUniqueKeyNeedAllFieldsInPf                          uint16 = 1503
	ErNoParts                                             uint16 = 1504
	ErPartitionMgmtOnNonpartitioned                       uint16 = 1505
	ErDropPartitionNonExistent                            uint16 = 1507
	ErDropLastPartition                                   uint16 = 1508
	ErSameNamePartition                                   uint16 = 1517
	ErPluginIsNotLoaded                                   uint16 = 1524
	ErWrongValue                                          uint16 = 1525
	ErNoPartitionForGivenValue                            uint16 = 1526
	ErBinlogRowLoggingFailed                              uint16 = 1534
	ErEventAlreadyExists                                  uint16 = 1537
	ErEventDoesNotExist                                   uint16 = 1539
	ErEventIntervalNotPositiveOrTooBig                    uint16 = 1542
	ErEventEndsBeforeStarts                               uint16 = 1543
	ErCannotLoadFromTableV2                               uint16 = 1548
	ErDropIndexFk                                         uint16 = 1553
	ErWarnDeprecatedSyntaxWithVer                         uint16 = 1554
	ErCantLockLogTable                                    uint16 = 1556
	ErForeignDuplicateKeyOldUnused                        uint16 = 1557
	ErTempTablePreventsSwitchOutOfRbr                     uint16 = 1559
	ErPartitionFunctionIsNotAllowed                       uint16 = 1564
	ErWrongPartitionName                                  uint16 = 1567
	ErCantChangeTxCharacteristics                         uint16 = 1568
	ErDupEntryAutoincrementCase                           uint16 = 1569
	ErEventRecursionForbidden                             uint16 = 1576
	ErWrongParamcountToNativeFct                          uint16 = 1582
	ErWrongParametersToNativeFct                          uint16 = 1583
	ErWrongParametersToStoredFct                          uint16 = 1584
	ErNativeFctNameCollision                              uint16 = 1585
	ErDupEntryWithKeyName                                 uint16 = 1586
	ErBinlogPurgeEmfile                                   uint16 = 1587
	ErBinlogUnsafeStatement                               uint16 = 1592
	ErLoadDataInvalidColumn                               uint16 = 1611
	ErXARbtimeout                                         uint16 = 1613
	ErXARbdeadlock                                        uint16 = 1614
	ErNeedReprepare                                       uint16 = 1615
	ErDelayedNotSupported                                 uint16 = 1616
	ErVariableIsReadonly                                  uint16 = 1621
	ErWarnEngineTransactionRollback                       uint16 = 1622
	ErConflictFnParseError                                uint16 = 1626
	ErTooLongTableComment                                 uint16 = 1628
	ErTooLongFieldComment                                 uint16 = 1629
	ErFuncInexistentNameCollision                         uint16 = 1630
	ErSignalWarn                                          uint16 = 1642
	ErSignalNotFound                                      uint16 = 1643
	ErSignalException                                     uint16 = 1644
	ErResignalWithoutActiveHandler                        uint16 = 1645
	ErSignalBadConditionType                              uint16 = 1646
	ErWarnDeprecatedSyntaxNoReplacement                   uint16 = 1681
	ErSpatialMustHaveGeomCol                              uint16 = 1687
	ErTooLongIndexComment                                 uint16 = 1688
	ErLockAborted                                         uint16 = 1689
	ErDataOutOfRange                                      uint16 = 1690
	ErWrongSpvarTypeInLimit                               uint16 = 1691
	ErBinlogUnsafeMixedStatement                          uint16 = 1693
	ErStoredFunctionPreventsSwitchSQLLogBin               uint16 = 1695
	ErAccessDeniedNoPassword                              uint16 = 1698
	ErSetPasswordAuthPlugin                               uint16 = 1699
	ErTruncateIllegalFk                                   uint16 = 1701
	ErMultiUpdateKeyConflict                              uint16 = 1706
	ErIndexColumnTooLong                                  uint16 = 1709
	ErIndexCorrupt                                        uint16 = 1712
	ErUndoRecordTooBig                                    uint16 = 1713
	ErUnknownPartition                                    uint16 = 1735
	ErPartitionClauseOnNonpartitioned                     uint16 = 1747
	ErRowDoesNotMatchGivenPartitionSet                    uint16 = 1748
	ErForeignDuplicateKey                                 uint16 = 1761
	ErVariableNotSettableInSF                             uint16 = 1765
	ErVariableNotSettableInTransaction                    uint16 = 1766
	ErCantExecuteInReadOnlyTransaction                    uint16 = 1792
	ErTooLongTablePartitionComment                        uint16 = 1793
	ErTablespaceExists                                    uint16 = 1813
	ErMustChangePassword                                  uint16 = 1820
	ErFkNoIndexChild                                      uint16 = 1821
	ErFkNoIndexParent                                     uint16 = 1822
	ErFkFailAddSystem                                     uint16 = 1823
	ErFkCannotOpenParent                                  uint16 = 1824
	ErFkIncorrectOption                                   uint16 = 1825
	ErFkDupName                                           uint16 = 1826
	ErPasswordFormat                                      uint16 = 1827
	ErFkColumnCannotDrop                                  uint16 = 1828
	ErFkColumnCannotDropChild                             uint16 = 1829
	ErFkColumnNotNull                                     uint16 = 1830
	ErDupIndex                                            uint16 = 1831
	ErFkColumnCannotChange                                uint16 = 1832
	ErFkColumnCannotChangeChild                           uint16 = 1833
	ErMalformedPacket                                     uint16 = 1835
	ErReadOnlyMode                                        uint16 = 1836
	ErAlterOperationNotSupported                          uint16 = 1845
	ErAlterOperationNotSupportedReason                    uint16 = 1846
	ErDupUnknownInIndex                                   uint16 = 1859
	ErIdentCausesTooLongPath                              uint16 = 1860
	ErInnodbReadOnly                                      uint16 = 1874
	ErOldTemporalsUpgraded                                uint16 = 1880
	ErCRServerGone                                        uint16 = 2006
	ErCRServerLost                                        uint16 = 2013
	ErCRMalformedPacket                                   uint16 = 2027
	ErFkDepthExceeded                                     uint16 = 3008
	ErTargetNotExplainable                                uint16 = 3012
	ErInvalidFieldSize                                    uint16 = 3013
	ErExplainNotSupported                                 uint16 = 3015
	ErInvalidArgumentForLogarithm                         uint16 = 3020
	ErQueryTimeout                                        uint16 = 3024
	ErAggregateOrderForUnion                              uint16 = 3028
	ErAggregateOrderNonAggQuery                           uint16 = 3029
	ErUserLockWrongName                                   uint16 = 3057
	ErUserLockDeadlock                                    uint16 = 3058
	ErReplaceInaccessibleRows                             uint16 = 3059
	ErAlterOperationNotSupportedGis                       uint16 = 3060
	ErIncorrectType                                       uint16 = 3064
	ErFieldInOrderNotSelect                               uint16 = 3065
	ErAggregateInOrderNotSelect                           uint16 = 3066
	ErNetOkPacketTooLarge                                 uint16 = 3068
	ErInvalidJSONData                                     uint16 = 3069
	ErGeneratedColumnFunctionIsNotAllowed                 uint16 = 3102
	ErWrongFkOptionForGeneratedColumn                     uint16 = 3104
	ErNonDefaultValueForGeneratedColumn                   uint16 = 3105
	ErUnsupportedActionOnGeneratedColumn                  uint16 = 3106
	ErGeneratedColumnNonPrior                             uint16 = 3107
	ErDependentByGeneratedColumn                          uint16 = 3108
	ErGeneratedColumnRefAutoInc                           uint16 = 3109
	ErAccountHasBeenLocked                                uint16 = 3118
	ErWarnConflictingHint                                 uint16 = 3126
	ErWarnUnknownQbName                                   uint16 = 3127
	ErUnresolvedHintName                                  uint16 = 3128
	ErInvalidJSONText                                     uint16 = 3140
	ErInvalidJSONTextInParam                              uint16 = 3141
	ErInvalidJSONBinaryData                               uint16 = 3142
	ErInvalidJSONPath                                     uint16 = 3143
	ErInvalidJSONCharset                                  uint16 = 3144
	ErInvalidJSONCharsetInFunction                        uint16 = 3145
	ErInvalidTypeForJSON                                  uint16 = 3146
	ErInvalidCastToJSON                                   uint16 = 3147
	ErInvalidJSONPathCharset                              uint16 = 3148
	ErInvalidJSONPathWildcard                             uint16 = 3149
	ErJSONValueTooBig                                     uint16 = 3150
	ErJSONKeyTooBig                                       uint16 = 3151
	ErJSONUsedAsKey                                       uint16 = 3152
	ErJSONVacuousPath                                     uint16 = 3153
	ErJSONBadOneOrAllArg                                  uint16 = 3154
	ErNumericJSONValueOutOfRange                          uint16 = 3155
	ErInvalidJSONValueForCast                             uint16 = 3156
	ErJSONDocumentTooDeep                                 uint16 = 3157
	ErJSONDocumentNullKey                                 uint16 = 3158
	ErSecureTransportRequired                             uint16 = 3159
	ErUserDoesNotExist                                    uint16 = 3162
	ErUserAlreadyExists                                   uint16 = 3163
	ErInvalidJSONPathArrayCell                            uint16 = 3165
	ErPkIndexCantBeInvisible                              uint16 = 3522
	ErUnknownAuthID                                       uint16 = 3523
	ErRoleNotGranted                                      uint16 = 3530
	ErLockNowait                                          uint16 = 3572
	ErCteRecursiveRequiresUnion                           uint16 = 3573
	ErCteRecursiveRequiresNonrecursiveFirst               uint16 = 3574
	ErCteRecursiveForbidsAggregation                      uint16 = 3575
	ErCteRecursiveForbiddenJoinOrder                      uint16 = 3576
	ErInvalidRequiresSingleReference                      uint16 = 3577
	ErWindowNoSuchWindow                                  uint16 = 3579
	ErWindowCircularity                                   uint16 = 3580
	ErDuplicateNameInWindow                               uint16 = 3591
	ErWindowFunctionInvalid                               uint16 = 3593
	ErNotImplementedForWindow                             uint16 = 3596
	ErIllegalPrivilegeLevel                               uint16 = 3619
	ErCteMaxRecursionDepth                                uint16 = 3636
	ErMissingJSONTableValue                               uint16 = 3665
	ErWrongJSONTableValue                                 uint16 = 3666
	ErTFMustHaveAlias                                     uint16 = 3667
	ErJTValueOutOfRange                                   uint16 = 3669
	ErRegexpBufferOverflow                                uint16 = 3684
	ErRegexpIllegalArgument                               uint16 = 3685
	ErRegexpIndexOutOfBounds                              uint16 = 3686
	ErRegexpInternalError                                 uint16 = 3687
	ErRegexpRuleSyntax                                    uint16 = 3688
	ErRegexpBadEscapeSequence                             uint16 = 3689
	ErRegexpUnimplemented                                 uint16 = 3690
	ErRegexpMismatchedParen                               uint16 = 3691
	ErRegexpBadInterval                                   uint16 = 3692
	ErRegexpMaxLtMin                                      uint16 = 3693
	ErRegexpInvalidBackRef                                uint16 = 3694
	ErRegexpLookBehindLimit                               uint16 = 3695
	ErRegexpMissingCloseBracket                           uint16 = 3696
	ErRegexpInvalidRange                                  uint16 = 3697
	ErRegexpStackOverflow                                 uint16 = 3698
	ErRegexpTimeOut                                       uint16 = 3699
	ErRegexpPatternTooBig                                 uint16 = 3700
	ErInvalidDefaultUTF8MB4Collation                      uint16 = 3721
	ErFkCannotDropParent                                  uint16 = 3730
	ErForeignKeyWithVirtualColumn                         uint16 = 3733
	ErFkNoColumnParent                                    uint16 = 3734
	ErDataTruncatedFunctionalIndex                        uint16 = 3751
	ErFunctionalIndexOnJSONOrGeometryFunction             uint16 = 3753
	ErFunctionalIndexRefAutoIncrement                     uint16 = 3754
	ErFunctionalIndexPrimaryKey                           uint16 = 3756
	ErFunctionalIndexOnLob                                uint16 = 3757
	ErFunctionalIndexFunctionIsNotAllowed                 uint16 = 3758
	ErFunctionalIndexOnField                              uint16 = 3762
	ErGeneratedColumnNamedFunctionIsNotAllowed            uint16 = 3763
	ErGeneratedColumnRowValue                             uint16 = 3764
	ErDependentByDefaultGeneratedValue                    uint16 = 3766
	ErDefaultValGeneratedNonPrior                         uint16 = 3767
	ErDefaultValGeneratedRefAutoInc                       uint16 = 3768
	ErDefaultValGeneratedFunctionIsNotAllowed             uint16 = 3769
	ErDefaultValGeneratedNamedFunctionIsNotAllowed        uint16 = 3770
	ErDefaultValGeneratedRowValue                         uint16 = 3771
	ErDefaultValGeneratedVariables                        uint16 = 3772
	ErWarnDeprecatedCollation                             uint16 = 3778
	ErFkIncompatibleColumns                               uint16 = 3780
	ErFunctionalIndexRowValue                             uint16 = 3800
	ErColumnCheckConstraintReferencesOtherColumn          uint16 = 3813
	ErCheckConstraintNamedFunctionIsNotAllowed            uint16 = 3814
	ErCheckConstraintFunctionIsNotAllowed                 uint16 = 3815
	ErCheckConstraintVariables                            uint16 = 3816
	ErCheckConstraintRefersAutoIncrementColumn            uint16 = 3818
	ErCheckConstraintViolated                             uint16 = 3819
	ErCheckConstraintRefersUnknownColumn                  uint16 = 3820
	ErCheckConstraintNotFound                             uint16 = 3821
	ErCheckConstraintDupName                              uint16 = 3822
	ErCheckConstraintClauseUsingFkRefer                   uint16 = 3823
	ErDependentByFunctionalIndex                          uint16 = 3837
	ErInvalidJSONType                                     uint16 = 3853
	ErImpossibleStringConversion                          uint16 = 3854
	ErRegexpInvalidFlag                                   uint16 = 3900
	ErConstraintNotFound                                  uint16 = 3940
	ErValuesWithoutColumns                                uint16 = 3942
	ErMisplacedInto                                       uint16 = 3954
	ErUserAccessDeniedForUserAccountBlockedByPasswordLock uint16 = 3955
	ErDependentByCheckConstraint                          uint16 = 3959
	ErMissingJSONValue                                    uint16 = 3966
	ErMultipleJSONValues                                  uint16 = 3967
	ErCannotConvertString                                 uint16 = 3988
	ErCharacterSetMismatch                                uint16 = 3995
	ErInvisibleColumnNoVisible                            uint16 = 4028
	ErClientInteractionTimeout                            uint16 = 4031
	ErWarnDeprecatedDatetimeDelimiter                     uint16 = 4095
	ErWarnDeprecatedSuperfluousDelimiter                  uint16 = 4096
	ErWarnFkNonStandard                                   uint16 = 6124
	ErFkNoUniqueIndexParent                               uint16 = 6125
	ErTxnTooLarge                                         uint16 = 8004
	ErInfoSchemaExpired                                   uint16 = 8027
	ErInfoSchemaChanged                                   uint16 = 8028
	ErSnapshotTooOld                                      uint16 = 8055
	ErResultUndetermined                                  uint16 = 8501
	ErRegionUnavailable                                   uint16 = 9005
	ErWriteConflict                                       uint16 = 9007
)

// errorTable is ordered by number: Errorf searches it by bisection, so that no
// map is built at start.
var errorTable = [...]errorText{
	{ErNo, "HY000", "NO"},
	{ErYes, "HY000", "YES"},
	{ErCantCreateFile, "HY000", "Can't create file '%.200s' (OS errno %d - %s)"},
	{ErCantCreateTable, "HY000", "Can't create table '%.200s' (errno: %d - %s)"},
	{ErCantCreateDB, "HY000", "Can't create database '%.192s' (errno: %d - %s)"},
	{ErDBCreateExists, "HY000", "Can't create database '%.192s'; database exists"},
	{ErDBDropExists, "HY000", "Can't drop database '%.192s'; database doesn't exist"},
	{ErDBDropRmdir, "HY000", "Error dropping database (can't rmdir '%.192s', errno: %d - %s)"},
	{ErCantFindSystemRec, "HY000", "Can't read record in system table"},
	{ErCantGetStat, "HY000", "Can't get status of '%.200s' (OS errno %d - %s)"},
	{ErCantLock, "HY000", "Can't lock file (errno: %d - %s)"},
	{ErCantOpenFile, "HY000", "Can't open file: '%.200s' (errno: %d - %s)"},
	{ErFileNotFound, "HY000", "Can't find file: '%.200s' (errno: %d - %s)"},
	{ErCantReadDir, "HY000", "Can't read dir of '%.192s' (errno: %d - %s)"},
	{ErCheckRead, "HY000", "Record has changed since last read in table '%.192s'"},
	{ErDiskFull, "HY000", "Disk full (%s); waiting for someone to free some space... (errno: %d - %s)"},
	{ErDupKey, "23000", "Can't write; duplicate key in table '%.192s'"},
	{ErErrorOnRead, "HY000", "Error reading file '%.200s' (errno: %d - %s)"},
	{ErErrorOnRename, "HY000", "Error on rename of '%.210s' to '%.210s' (errno: %d - %s)"},
	{ErErrorOnWrite, "HY000", "Error writing file '%.200s' (errno: %d - %s)"},
	{ErFileUsed, "HY000", "'%.192s' is locked against change"},
	{ErFilsortAbort, "HY000", "Sort aborted"},
	{ErGetErrno, "HY000", "Got error %d - '%.192s' from storage engine"},
	{ErIllegalHA, "HY000", "Table storage engine for '%.192s' doesn't have this option"},
	{ErKeyNotFound, "HY000", "Can't find record in '%.192s'"},
	{ErNotFormFile, "HY000", "Incorrect information in file: '%.200s'"},
	{ErNotKeyfile, "HY000", "Incorrect key file for table '%.200s'; try to repair it"},
	{ErOldKeyfile, "HY000", "Old key file for table '%.192s'; repair it!"},
	{ErOpenAsReadonly, "HY000", "Table '%.192s' is read only"},
	{ErOutOfMemory, "HY001", "Out of memory; restart server and try again (needed %d bytes)"},
	{ErOutOfSortMemory, "HY001", "Out of sort memory, consider increasing server sort buffer size"},
	{ErConCount, "08004", "Too many connections"},
	{ErOutOfResources, "HY000", "Out of memory; check if mysqld or some other process uses all available memory; if not, you may have to use 'ulimit' to allow mysqld to use more memory or you can add more swap space"},
	{ErBadHost, "08S01", "Can't get hostname for your address"},
	{ErHandshake, "08S01", "Bad handshake"},
	{ErDBAccessDenied, "42000", "Access denied for user '%.48s'@'%.64s' to database '%.192s'"},
	{ErAccessDenied, "28000", "Access denied for user '%.48s'@'%.64s' (using password: %s)"},
	{ErNoDB, "3D000", "No database selected"},
	{ErUnknownCom, "08S01", "Unknown command"},
	{ErBadNull, "23000", "Column '%.192s' cannot be null"},
	{ErBadDB, "42000", "Unknown database '%.192s'"},
	{ErTableExists, "42S01", "Table '%.192s' already exists"},
	{ErBadTable, "42S02", "Unknown table '%.129s'"},
	{ErNonUniq, "23000", "Column '%.192s' in %.192s is ambiguous"},
	{ErServerShutdown, "08S01", "Server shutdown in progress"},
	{ErBadField, "42S22", "Unknown column '%.192s' in '%.192s'"},
	{ErWrongFieldWithGroup, "42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%.192s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"},
	{ErWrongGroupField, "42000", "Can't group on '%.192s'"},
	{ErWrongSumSelect, "42000", "Statement has sum functions and columns in same statement"},
	{ErWrongValueCount, "21S01", "Column count doesn't match value count"},
	{ErTooLongIdent, "42000", "Identifier name '%.100s' is too long"},
	{ErDupFieldName, "42S21", "Duplicate column name '%.192s'"},
	{ErDupKeyName, "42000", "Duplicate key name '%.192s'"},
	{ErDupEntry, "23000", "Duplicate entry '%.64s' for key '%.385s'"},
	{ErWrongFieldSpec, "42000", "Incorrect column specifier for column '%.192s'"},
	{ErParseError, "42000", "%s near '%.80s' at line %d"},
	{ErEmptyQuery, "42000", "Query was empty"},
	{ErNonUniqTable, "42000", "Not unique table/alias: '%.192s'"},
	{ErInvalidDefault, "42000", "Invalid default value for '%.192s'"},
	{ErMultiplePriKey, "42000", "Multiple primary key defined"},
	{ErTooManyKeys, "42000", "Too many keys specified; max %d keys allowed"},
	{ErTooManyKeyParts, "42000", "Too many key parts specified; max %d parts allowed"},
	{ErTooLongKey, "42000", "Specified key was too long; max key length is %d bytes"},
	{ErKeyColumnDoesNotExist, "42000", "Key column '%.192s' doesn't exist in table"},
	{ErBlobUsedAsKey, "42000", "BLOB column '%.192s' can't be used in key specification with the used table type"},
	{ErTooBigFieldLength, "42000", "Column length too big for column '%.192s' (max = %d); use BLOB or TEXT instead"},
	{ErWrongAutoKey, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{ErReady, "HY000", "%s: ready for connections. Version: '%s'  socket: '%s'  port: %d"},
	{ErNormalShutdown, "HY000", "%s: Normal shutdown"},
	{ErShutdownComplete, "HY000", "%s: Shutdown complete"},
	{ErForcingClose, "08S01", "%s: Forcing close of thread %d  user: '%.48s'"},
	{ErIPSock, "08S01", "Can't create IP socket"},
	{ErNoSuchIndex, "42S12", "Table '%.192s' has no index like the one used in CREATE INDEX; recreate the table"},
	{ErWrongFieldTerminators, "42000", "Field separator argument is not what is expected; check the manual"},
	{ErBlobsAndNoTerminated, "42000", "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'"},
	{ErTextFileNotReadable, "HY000", "The file '%.128s' must be in the database directory or be readable by all"},
	{ErFileExists, "HY000", "File '%.200s' already exists"},
	{ErLoadInfo, "HY000", "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d"},
	{ErWrongSubKey, "HY000", "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys"},
	{ErCantRemoveAllFields, "42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead"},
	{ErCantDropFieldOrKey, "42000", "Can't DROP '%.192s'; check that column/key exists"},
	{ErInsertInfo, "HY000", "Records: %d  Duplicates: %d  Warnings: %d"},
	{ErUpdateTableUsed, "HY000", "You can't specify target table '%.192s' for update in FROM clause"},
	{ErNoSuchThread, "HY000", "Unknown thread id: %d"},
	{ErKillDenied, "HY000", "You are not owner of thread %d"},
	{ErNoTablesUsed, "HY000", "No tables used"},
	{ErTooBigSet, "HY000", "Too many strings for column %.192s and SET"},
	{ErNoUniqueLogfile, "HY000", "Can't generate a unique log-filename %.200s.(1-999)"},
	{ErTableNotLockedForWrite, "HY000", "Table '%.192s' was locked with a READ lock and can't be updated"},
	{ErTableNotLocked, "HY000", "Table '%.192s' was not locked with LOCK TABLES"},
	{ErBlobCantHaveDefault, "42000", "BLOB, TEXT, GEOMETRY or JSON column '%.192s' can't have a default value"},
	{ErWrongDBName, "42000", "Incorrect database name '%.100s'"},
	{ErWrongTableName, "42000", "Incorrect table name '%.100s'"},
	{ErTooBigSelect, "42000", "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if the SELECT is okay"},
	{ErUnknownError, "HY000", "%s"},
	{ErUnknownProcedure, "42000", "Unknown procedure '%.192s'"},
	{ErWrongParamcountToProcedure, "42000", "Incorrect parameter count to procedure '%.192s'"},
	{ErWrongParametersToProcedure, "HY000", "Incorrect parameters to procedure '%.192s'"},
	{ErUnknownTable, "42S02", "Unknown table '%.192s' in %.32s"},
	{ErFieldSpecifiedTwice, "42000", "Column '%.192s' specified twice"},
	{ErInvalidGroupFuncUse, "HY000", "Invalid use of group function"},
	{ErUnsupportedExtension, "42000", "Table '%.192s' uses an extension that doesn't exist in this MySQL version"},
	{ErTableMustHaveColumns, "42000", "A table must have at least 1 column"},
	{ErRecordFileFull, "HY000", "The table '%.192s' is full"},
	{ErUnknownCharacterSet, "42000", "Unknown character set: '%.64s'"},
	{ErTooManyTables, "HY000", "Too many tables; MySQL can only use %d tables in a join"},
	{ErTooManyFields, "HY000", "Too many columns"},
	{ErTooBigRowsize, "42000", "Row size too large. The maximum row size for the used table type, not counting BLOBs, is %d. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs"},
	{ErStackOverrun, "HY000", "Thread stack overrun:  Used: %d of a %d stack.  Use 'mysqld --thread_stack=#' to specify a bigger stack if needed"},
	{ErWrongOuterJoin, "42000", "Cross dependency found in OUTER JOIN; examine your ON conditions"},
	{ErNullColumnInIndex, "42000", "Table handler doesn't support NULL in given index. Please change column '%.192s' to be NOT NULL or use another handler"},
	{ErCantFindUDF, "HY000", "Can't load function '%.192s'"},
	{ErCantInitializeUdf, "HY000", "Can't initialize function '%.192s'; %.80s"},
	{ErFunctionNotDefined, "HY000", "Function '%.192s' is not defined"},
	{ErHostIsBlocked, "HY000", "Host '%.64s' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'"},
	{ErHostNotPrivileged, "HY000", "Host '%.64s' is not allowed to connect to this MySQL server"},
	{ErPasswordAnonymousUser, "42000", "You are using MySQL as an anonymous user and anonymous users are not allowed to change passwords"},
	{ErPasswordNotAllowed, "42000", "You must have privileges to update tables in the mysql database to be able to change passwords for others"},
	{ErPasswordNoMatch, "42000", "Can't find any matching row in the user table"},
	{ErUpdateInfo, "HY000", "Rows matched: %d  Changed: %d  Warnings: %d"},
	{ErCantCreateThread, "HY000", "Can't create a new thread (errno %d); if you are not out of available memory, you can consult the manual for a possible OS-dependent bug"},
	{ErWrongValueCountOnRow, "21S01", "Column count doesn't match value count at row %d"},
	{ErCantReopenTable, "HY000", "Can't reopen table: '%.192s'"},
	{ErInvalidUseOfNull, "22004", "Invalid use of NULL value"},
	{ErRegexpError, "42000", "Got error '%.64s' from regexp"},
	{ErMixOfGroupFuncAndFields, "42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by"},
	{ErNonexistingGrant, "42000", "There is no such grant defined for user '%.48s' on host '%.64s'"},
	{ErTableaccessDenied, "42000", "%.128s command denied to user '%.48s'@'%.64s' for table '%.64s'"},
	{ErColumnaccessDenied, "42000", "%.16s command denied to user '%.48s'@'%.64s' for column '%.192s' in table '%.192s'"},
	{ErIllegalGrantForTable, "42000", "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used"},
	{ErGrantWrongHostOrUser, "42000", "The host or user argument to GRANT is too long"},
	{ErNoSuchTable, "42S02", "Table '%.192s.%.192s' doesn't exist"},
	{ErNonexistingTableGrant, "42000", "There is no such grant defined for user '%.48s' on host '%.64s' on table '%.192s'"},
	{ErNotAllowedCommand, "42000", "The used command is not allowed with this MySQL version"},
	{ErSyntaxError, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use"},
	{ErAbortingConnection, "08S01", "Aborted connection %d to db: '%.192s' user: '%.48s' (%.64s)"},
	{ErNetPacketTooLarge, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"},
	{ErNetReadErrorFromPipe, "08S01", "Got a read error from the connection pipe"},
	{ErNetFcntlError, "08S01", "Got an error from fcntl()"},
	{ErNetPacketsOutOfOrder, "08S01", "Got packets out of order"},
	{ErNetUncompressError, "08S01", "Couldn't uncompress communication packet"},
	{ErNetReadError, "08S01", "Got an error reading communication packets"},
	{ErNetReadInterrupted, "08S01", "Got timeout reading communication packets"},
	{ErNetErrorOnWrite, "08S01", "Got an error writing communication packets"},
	{ErNetWriteInterrupted, "08S01", "Got timeout writing communication packets"},
	{ErTooLongString, "42000", "Result string is longer than 'max_allowed_packet' bytes"},
	{ErTableCantHandleBlob, "42000", "The used table type doesn't support BLOB/TEXT columns"},
	{ErTableCantHandleAutoIncrement, "42000", "The used table type doesn't support AUTO_INCREMENT columns"},
	{ErWrongColumnName, "42000", "Incorrect column name '%.100s'"},
	{ErWrongKeyColumn, "42000", "The used storage engine can't index column '%.192s'"},
	{ErWrongMrgTable, "HY000", "Unable to open underlying table which is differently defined or of non-MyISAM type or doesn't exist"},
	{ErDupUnique, "23000", "Can't write, because of unique constraint, to table '%.192s'"},
	{ErBlobKeyWithoutLength, "42000", "BLOB/TEXT column '%.192s' used in key specification without a key length"},
	{ErPrimaryCantHaveNull, "42000", "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead"},
	{ErTooManyRows, "42000", "Result consisted of more than one row"},
	{ErRequiresPrimaryKey, "42000", "This table type requires a primary key"},
	{ErUpdateWithoutKeyInSafeMode, "HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. %s"},
	{ErKeyDoesNotExist, "42000", "Key '%.192s' doesn't exist in table '%.192s'"},
	{ErCheckNoSuchTable, "42000", "Can't open table"},
	{ErCheckNotImplemented, "42000", "The storage engine for the table doesn't support %s"},
	{ErCantDoThisDuringATransaction, "25000", "You are not allowed to execute this command in a transaction"},
	{ErErrorDuringCommit, "HY000", "Got error %d - '%.192s' during COMMIT"},
	{ErErrorDuringRollback, "HY000", "Got error %d - '%.192s' during ROLLBACK"},
	{ErErrorDuringFlushLogs, "HY000", "Got error %d during FLUSH_LOGS"},
	{ErNewAbortingConnection, "08S01", "Aborted connection %d to db: '%.192s' user: '%.48s' host: '%.64s' (%.64s)"},
	{ErFtMatchingKeyNotFound, "HY000", "Can't find FULLTEXT index matching the column list"},
	{ErLockOrActiveTransaction, "HY000", "Can't execute the given command because you have active locked tables or an active transaction"},
	{ErUnknownSystemVariable, "HY000", "Unknown system variable '%.64s'"},
	{ErCrashedOnUsage, "HY000", "Table '%.192s' is marked as crashed and should be repaired"},
	{ErWarningNotCompleteRollback, "HY000", "Some non-transactional changed tables couldn't be rolled back"},
	{ErTransCacheFull, "HY000", "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of storage; increase this mysqld variable and try again"},
	{ErTooManyUserConnections, "42000", "User %.64s already has more than 'max_user_connections' active connections"},
	{ErSetConstantsOnly, "HY000", "You may only use constant expressions with SET"},
	{ErLockWaitTimeout, "HY000", "Lock wait timeout exceeded; try restarting transaction"},
	{ErLockTableFull, "HY000", "The total number of locks exceeds the lock table size"},
	{ErReadOnlyTransaction, "25000", "Update locks cannot be acquired during a READ UNCOMMITTED transaction"},
	{ErWrongArguments, "HY000", "Incorrect arguments to %s"},
	{ErNoPermissionToCreateUser, "42000", "'%.48s'@'%.64s' is not allowed to create new users"},
	{ErLockDeadlock, "40001", "Deadlock found when trying to get lock; try restarting transaction"},
	{ErTableCantHandleFt, "HY000", "The used table type doesn't support FULLTEXT indexes"},
	{ErCannotAddForeign, "HY000", "Cannot add foreign key constraint"},
	{ErNoReferencedRow, "23000", "Cannot add or update a child row: a foreign key constraint fails"},
	{ErRowIsReferenced, "23000", "Cannot delete or update a parent row: a foreign key constraint fails"},
	{ErConnectToSource, "08S01", "Error connecting to source: %.128s"},
	{ErErrorWhenExecutingCommand, "HY000", "Error when executing command %s: %.128s"},
	{ErWrongUsage, "HY000", "Incorrect usage of %s and %s"},
	{ErWrongNumberOfColumnsInSelect, "21000", "The used SELECT statements have a different number of columns"},
	{ErCantUpdateWithReadlock, "HY000", "Can't execute the query because you have a conflicting read lock"},
	{ErMixingNotAllowed, "HY000", "Mixing of transactional and non-transactional tables is disabled"},
	{ErDupArgument, "HY000", "Option '%s' used twice in statement"},
	{ErUserLimitReached, "42000", "User '%.64s' has exceeded the '%s' resource (current value: %d)"},
	{ErSpecificAccessDenied, "42000", "Access denied; you need (at least one of) the %.128s privilege(s) for this operation"},
	{ErLocalVariable, "HY000", "Variable '%.64s' is a SESSION variable and can't be used with SET GLOBAL"},
	{ErGlobalVariable, "HY000", "Variable '%.64s' is a GLOBAL variable and should be set with SET GLOBAL"},
	{ErNoDefault, "42000", "Variable '%.64s' doesn't have a default value"},
	{ErWrongValueForVar, "42000", "Variable '%.64s' can't be set to the value of '%.200s'"},
	{ErWrongTypeForVar, "42000", "Incorrect argument type to variable '%.64s'"},
	{ErVarCantBeRead, "HY000", "Variable '%.64s' can only be set, not read"},
	{ErCantUseOptionHere, "42000", "Incorrect usage/placement of '%s'"},
	{ErNotSupportedYet, "42000", "This version of Pando doesn't yet support '%s'"},
	{ErIncorrectGlobalLocalVar, "HY000", "Variable '%.192s' is a %s variable"},
	{ErWrongFkDef, "42000", "Incorrect foreign key definition for '%.192s': %s"},
	{ErKeyRefDoNotMatchTableRef, "HY000", "Key reference and table reference don't match"},
	{ErOperandColumns, "21000", "Operand should contain %d column(s)"},
	{ErSubqueryNo1Row, "21000", "Subquery returns more than 1 row"},
	{ErUnknownStmtHandler, "HY000", "Unknown prepared statement handler (%s) given to %s"},
	{ErCorruptHelpDB, "HY000", "Help database is corrupt or does not exist"},
	{ErAutoConvert, "HY000", "Converting column '%s' from %s to %s"},
	{ErIllegalReference, "42S22", "Reference '%.64s' not supported (%s)"},
	{ErDerivedMustHaveAlias, "42000", "Every derived table must have its own alias"},
	{ErSelectReduced, "01000", "Select %d was reduced during optimization"},
	{ErTablenameNotAllowedHere, "42000", "Table '%.192s' from one of the %s cannot be used in %s"},
	{ErNotSupportedAuthMode, "08004", "Client does not support authentication protocol requested by server; consider upgrading MySQL client"},
	{ErSpatialCantHaveNull, "42000", "All parts of a SPATIAL index must be NOT NULL"},
	{ErCollationCharsetMismatch, "42000", "COLLATION '%s' is not valid for CHARACTER SET '%s'"},
	{ErTooBigForUncompress, "HY000", "Uncompressed data size too large; the maximum size is %d (probably, length of uncompressed data was corrupted)"},
	{ErCutValueGroupConcat, "HY000", "Row %d was cut by GROUP_CONCAT()"},
	{ErWarnTooFewRecords, "01000", "Row %d doesn't contain data for all columns"},
	{ErWarnTooManyRecords, "01000", "Row %d was truncated; it contained more data than there were input columns"},
	{ErWarnNullToNotnull, "22004", "Column set to default value; NULL supplied to NOT NULL column '%s' at row %d"},
	{ErWarnDataOutOfRange, "22003", "Out of range value for column '%s' at row %d"},
	{ErWarnDataTruncated, "01000", "Data truncated for column '%s' at row %d"},
	{ErWarnUsingOtherHandler, "HY000", "Using storage engine %s for table '%s'"},
	{ErCantAggregate2Collations, "HY000", "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'"},
	{ErDropUser, "HY000", "Cannot drop one or more of the requested users"},
	{ErRevokeGrants, "HY000", "Can't revoke all privileges for one or more of the requested users"},
	{ErCantAggregate3Collations, "HY000", "Illegal mix of collations (%s,%s), (%s,%s), (%s,%s) for operation '%s'"},
	{ErCantAggregateNCollations, "HY000", "Illegal mix of collations for operation '%s'"},
	{ErVariableIsNotStruct, "HY000", "Variable '%.64s' is not a variable component (can't be used as XXXX.variable_name)"},
	{ErUnknownCollation, "HY000", "Unknown collation: '%.64s'"},
	{ErServerIsInSecureAuthMode, "HY000", "Server is running in --secure-auth mode, but '%s'@'%s' has a password in the old format; please change the password to the new format"},
	{ErWarnFieldResolved, "HY000", "Field or reference '%s%s%s%s%s' of SELECT #%d was resolved in SELECT #%d"},
	{ErWrongNameForIndex, "42000", "Incorrect index name '%.100s'"},
	{ErWrongNameForCatalog, "42000", "Incorrect catalog name '%.100s'"},
	{ErBadFtColumn, "HY000", "Column '%.192s' cannot be part of FULLTEXT index"},
	{ErUnknownStorageEngine, "42000", "Unknown storage engine '%s'"},
	{ErWarnDeprecatedSyntax, "HY000", "'%s' is deprecated and will be removed in a future release. Please use %s instead"},
	{ErNonUpdatableTable, "HY000", "The target table %.100s of the %s is not updatable"},
	{ErFeatureDisabled, "HY000", "The '%s' feature is disabled; you need MySQL built with '%s' to have it working"},
	{ErOptionPreventsStatement, "HY000", "The MySQL server is running with the %s option so it cannot execute this statement"},
	{ErDuplicatedValueInType, "HY000", "Column '%.100s' has duplicated value '%.64s' in %s"},
	{ErTruncatedWrongValue, "22007", "Truncated incorrect %.64s value: '%.128s'"},
	{ErTooMuchAutoTimestampCols, "HY000", "Incorrect table definition; there can be only one TIMESTAMP column with CURRENT_TIMESTAMP in DEFAULT or ON UPDATE clause"},
	{ErInvalidOnUpdate, "HY000", "Invalid ON UPDATE clause for '%.192s' column"},
	{ErUnsupportedPs, "HY000", "This command is not supported in the prepared statement protocol yet"},
	{ErGetErrmsg, "HY000", "Got error %d '%.192s' from %s"},
	{ErGetTemporaryErrmsg, "HY000", "Got temporary error %d '%.192s' from %s"},
	{ErUnknownTimeZone, "HY000", "Unknown or incorrect time zone: '%.64s'"},
	{ErWarnInvalidTimestamp, "HY000", "Invalid TIMESTAMP value in column '%s' at row %d"},
	{ErInvalidCharacterString, "HY000", "Invalid %s character string: '%.64s'"},
	{ErWarnAllowedPacketOverflowed, "HY000", "Result of %s() was larger than max_allowed_packet (%d) - truncated"},
	{ErConflictingDeclarations, "HY000", "Conflicting declarations: '%s%s' and '%s%s'"},
	{ErSPNoRecursiveCreate, "2F003", "Can't create a %s from within another stored routine"},
	{ErSPAlreadyExists, "42000", "%s %s already exists"},
	{ErSPDoesNotExist, "42000", "%s %s does not exist"},
	{ErSPDropFailed, "HY000", "Failed to DROP %s %s"},
	{ErSPStoreFailed, "HY000", "Failed to CREATE %s %s"},
	{ErSPLilabelMismatch, "42000", "%s with no matching label: %s"},
	{ErSPLabelRedefine, "42000", "Redefining label %s"},
	{ErSPLabelMismatch, "42000", "End-label %s without match"},
	{ErSPUninitVar, "01000", "Referring to uninitialized variable %s"},
	{ErSPBadselect, "0A000", "PROCEDURE %s can't return a result set in the given context"},
	{ErSPBadreturn, "42000", "RETURN is only allowed in a FUNCTION"},
	{ErSPBadstatement, "0A000", "%s is not allowed in stored procedures"},
	{ErQueryInterrupted, "70100", "Query execution was interrupted"},
	{ErSPWrongNoOfArgs, "42000", "Incorrect number of arguments for %s %s; expected %d, got %d"},
	{ErSPCondMismatch, "42000", "Undefined CONDITION: %s"},
	{ErSPNoreturn, "42000", "No RETURN found in FUNCTION %s"},
	{ErSPNoreturnend, "2F005", "FUNCTION %s ended without RETURN"},
	{ErSPBadCursorQuery, "42000", "Cursor statement must be a SELECT"},
	{ErSPBadCursorSelect, "42000", "Cursor SELECT must not have INTO"},
	{ErSPCursorMismatch, "42000", "Undefined CURSOR: %s"},
	{ErSPCursorAlreadyOpen, "24000", "Cursor is already open"},
	{ErSPCursorNotOpen, "24000", "Cursor is not open"},
	{ErSPUndeclaredVar, "42000", "Undeclared variable: %s"},
	{ErSPWrongNoOfFetchArgs, "HY000", "Incorrect number of FETCH variables"},
	{ErSPFetchNoData, "02000", "No data - zero rows fetched, selected, or processed"},
	{ErSPDupParam, "42000", "Duplicate parameter: %s"},
	{ErSPDupVar, "42000", "Duplicate variable: %s"},
	{ErSPDupCond, "42000", "Duplicate condition: %s"},
	{ErSPDupCurs, "42000", "Duplicate cursor: %s"},
	{ErSPCantAlter, "HY000", "Failed to ALTER %s %s"},
	{ErSPSubselectNyi, "0A000", "Subquery value not supported"},
	{ErStmtNotAllowedInSFOrTrg, "0A000", "%s is not allowed in stored function or trigger"},
	{ErSPCaseNotFound, "20000", "Case not found for CASE statement"},
	{ErWrongObject, "HY000", "'%.192s.%.192s' is not %s"},
	{ErNonupdateableColumn, "HY000", "Column '%.192s' is not updatable"},
	{ErViewSelectDerived, "HY000", "View's SELECT contains a subquery in the FROM clause"},
	{ErViewSelectClause, "HY000", "View's SELECT contains a '%s' clause"},
	{ErViewSelectVariable, "HY000", "View's SELECT contains a variable or parameter"},
	{ErViewSelectTmptable, "HY000", "View's SELECT refers to a temporary table '%.192s'"},
	{ErViewWrongList, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
	{ErViewInvalid, "HY000", "View '%.192s.%.192s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"},
	{ErSPNoDropSP, "HY000", "Can't drop or alter a %s from within another stored routine"},
	{ErTrgAlreadyExists, "HY000", "Trigger already exists"},
	{ErTrgDoesNotExist, "HY000", "Trigger does not exist"},
	{ErTrgOnViewOrTempTable, "HY000", "Trigger's '%.192s' is view or temporary table"},
	{ErTrgCantChangeRow, "HY000", "Updating of %s row is not allowed in %strigger"},
	{ErTrgNoSuchRowInTrg, "HY000", "There is no %s row in %s trigger"},
	{ErNoDefaultForField, "HY000", "Field '%.192s' doesn't have a default value"},
	{ErDivisionByZero, "22012", "Division by 0"},
	{ErTruncatedWrongValueForField, "HY000", "Incorrect %.32s value: '%.128s' for column '%.192s' at row %d"},
	{ErIllegalValueForType, "22007", "Illegal %s '%.192s' value found during parsing"},
	{ErViewNonupdCheck, "HY000", "CHECK OPTION on non-updatable view '%.192s.%.192s'"},
	{ErViewCheckFailed, "HY000", "CHECK OPTION failed '%.192s.%.192s'"},
	{ErProcaccessDenied, "42000", "%.16s command denied to user '%.48s'@'%.64s' for routine '%.192s'"},
	{ErRelayLogFail, "HY000", "Failed purging old relay logs: %s"},
	{ErPasswdLength, "HY000", "Password hash should be a %d-digit hexadecimal number"},
	{ErUnknownTargetBinlog, "HY000", "Target log not found in binlog index"},
	{ErNoBinaryLogging, "HY000", "You are not using binary logging"},
	{ErReservedSyntax, "HY000", "The '%.64s' syntax is reserved for purposes internal to the MySQL server"},
	{ErPsManyParam, "HY000", "Prepared statement contains too many placeholders"},
	{ErKeyPart0, "HY000", "Key part '%.192s' length cannot be 0"},
	{ErViewChecksum, "HY000", "View text checksum failed"},
	{ErViewMultiupdate, "HY000", "Can not modify more than one base table through a join view '%.192s.%.192s'"},
	{ErViewNoInsertFieldList, "HY000", "Can not insert into join view '%.192s.%.192s' without fields list"},
	{ErViewDeleteMergeView, "HY000", "Can not delete from join view '%.192s.%.192s'"},
	{ErCannotUser, "HY000", "Operation %s failed for %.256s"},
	{ErXAERNota, "XAE04", "XAER_NOTA: Unknown XID"},
	{ErXAERInval, "XAE05", "XAER_INVAL: Invalid arguments (or unsupported command)"},
	{ErXAERRmfail, "XAE07", "XAER_RMFAIL: The command cannot be executed when global transaction is in the  %.64s state"},
	{ErXAEROutside, "XAE09", "XAER_OUTSIDE: Some work is done outside global transaction"},
	{ErXAERRmerr, "XAE03", "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency"},
	{ErXARbrollback, "XA100", "XA_RBROLLBACK: Transaction branch was rolled back"},
	{ErNonexistingProcGrant, "42000", "There is no such grant defined for user '%.48s' on host '%.64s' on routine '%.192s'"},
	{ErDataTooLong, "22001", "Data too long for column '%s' at row %d"},
	{ErSPBadSQLState, "42000", "Bad SQLSTATE: '%s'"},
	{ErLoadFromFixedSizeRowsToVar, "HY000", "Can't load value from file with fixed size rows to variable"},
	{ErCantCreateUserWithGrant, "42000", "You are not allowed to create a user with GRANT"},
	{ErWrongValueForType, "HY000", "Incorrect %.32s value: '%.128s' for function %.32s"},
	{ErTableDefChanged, "HY000", "Table definition has changed, please retry transaction"},
	{ErSPDupHandler, "42000", "Duplicate handler declared in the same block"},
	{ErSPNotVarArg, "42000", "OUT or INOUT argument %d for routine %s is not a variable or NEW pseudo-variable in BEFORE trigger"},
	{ErSPNoRetset, "0A000", "Not allowed to return a result set from a %s"},
	{ErCantCreateGeometryObject, "22003", "Cannot get geometry object from data you send to the GEOMETRY field"},
	{ErStmtHasNoOpenCursor, "HY000", "The statement (%d) has no open cursor."},
	{ErCommitNotAllowedInSFOrTrg, "HY000", "Explicit or implicit commit is not allowed in stored function or trigger."},
	{ErNoDefaultForViewField, "HY000", "Field of view '%.192s.%.192s' underlying table doesn't have a default value"},
	{ErSPNoRecursion, "HY000", "Recursive stored functions and triggers are not allowed."},
	{ErTooBigScale, "42000", "Too big scale %d specified for column '%.192s'. Maximum is %d."},
	{ErTooBigPrecision, "42000", "Too-big precision %d specified for '%.192s'. Maximum is %d."},
	{ErMBiggerThanD, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%.192s')."},
	{ErWrongLockOfSystemTable, "HY000", "You can't combine write-locking of system tables with other tables or lock types"},
	{ErConnectToForeignDataSource, "HY000", "Unable to connect to foreign data source: %.64s"},
	{ErTrgInWrongSchema, "HY000", "Trigger in wrong schema"},
	{ErStackOverrunNeedMore, "HY000", "Thread stack overrun:  %d bytes used of a %d byte stack, and %d bytes needed.  Use 'mysqld --thread_stack=#' to specify a bigger stack."},
	{ErTooLongBody, "42000", "Routine body for '%.100s' is too long"},
	{ErWarnCantDropDefaultKeycache, "HY000", "Cannot drop default keycache"},
	{ErTooBigDisplaywidth, "42000", "Display width out of range for column '%.192s' (max = %d)"},
	{ErXAERDupid, "XAE08", "XAER_DUPID: The XID already exists"},
	{ErDatetimeFunctionOverflow, "22008", "Datetime function: %.32s field overflow"},
	{ErCantUpdateUsedTableInSFOrTrg, "HY000", "Can't update table '%.192s' in stored function/trigger because it is already used by statement which invoked this stored function/trigger."},
	{ErViewPreventUpdate, "HY000", "The definition of table '%.192s' prevents operation %.192s on table '%.192s'."},
	{ErPsNoRecursion, "HY000", "The prepared statement contains a stored routine call that refers to that same statement. It's not allowed to execute a prepared statement in such a recursive manner"},
	{ErMalformedDefiner, "0L000", "Malformed definer name"},
	{ErNoSuchUser, "HY000", "The user specified as a definer ('%.64s'@'%.64s') does not exist"},
	{ErForbidSchemaChange, "HY000", "Changing schema from '%.192s' to '%.192s' is not allowed."},
	{ErRowIsReferenced2, "23000", "Cannot delete or update a parent row: a foreign key constraint fails (%.192s)"},
	{ErNoReferencedRow2, "23000", "Cannot add or update a child row: a foreign key constraint fails (%.192s)"},
	{ErSPBadVarShadow, "42000", "Variable '%.64s' must be quoted with `...`, or renamed"},
	{ErSPWrongName, "42000", "Incorrect routine name '%.192s'"},
	{ErTableNeedsUpgrade, "HY000", "Table upgrade required. Please do \"REPAIR TABLE `%.64s`\" or dump/reload to fix it!"},
	{ErSPNoAggregate, "42000", "AGGREGATE is not supported for stored functions"},
	{ErMaxPreparedStmtCountReached, "42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)"},
	{ErViewRecursive, "HY000", "`%.192s`.`%.192s` contains view recursion"},
	{ErNonGroupingFieldUsed, "42000", "Non-grouping field '%.192s' is used in %.64s clause"},
	{ErTableCantHandleSpkeys, "HY000", "The used table type doesn't support SPATIAL indexes"},
	{ErNoTriggersOnSystemSchema, "HY000", "Triggers can not be created on system tables"},
	{ErRemovedSpaces, "HY000", "Leading spaces are removed from name '%s'"},
	{ErAutoincReadFailed, "HY000", "Failed to read auto-increment value from storage engine"},
	{ErUsername, "HY000", "user name"},
	{ErHostname, "HY000", "host name"},
	{ErWrongStringLength, "HY000", "String '%.70s' is too long for %s (should be no longer than %d)"},
	{ErNonInsertableTable, "HY000", "The target table %.100s of the %s is not insertable-into"},
	{ErTooHighLevelOfNestingForSelect, "HY000", "Too high level of nesting for select"},
	{ErNameBecomesEmpty, "HY000", "Name '%.64s' has become ''"},
	{ErAmbiguousFieldTerm, "HY000", "First character of the FIELDS TERMINATED string is ambiguous; please use non-optional and non-empty FIELDS ENCLOSED BY"},
	{ErIllegalHACreateOption, "HY000", "Table storage engine '%.64s' does not support the create option '%.64s'"},
	{ErPartitionRequiresValues, "HY000", "Syntax error: %.64s PARTITIONING requires definition of VALUES %.64s for each partition"},
	{ErPartitionMaxvalue, "HY000", "MAXVALUE can only be used in last partition definition"},
	{ErPartitionWrongNoPart, "HY000", "Wrong number of partitions defined, mismatch with previous setting"},
	{ErWrongExprInPartitionFunc, "HY000", "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed"},
	{ErFieldNotFoundPart, "HY000", "Field in list of fields for partition function not found in table"},
	{ErPartitionFuncNotAllowed, "HY000", "The %.64s function returns the wrong type"},
	{ErPartitionsMustBeDefined, "HY000", "For %.64s partitions each partition must be defined"},
	{ErRangeNotIncreasing, "HY000", "VALUES LESS THAN value must be strictly increasing for each partition"},
	{ErUniqueKeyNeedAllFieldsInPf, "HY000", "A %s must include all columns in the table's partitioning function"},
	{ErNoParts, "HY000", "Number of %.64s = 0 is not an allowed value"},
	{ErPartitionMgmtOnNonpartitioned, "HY000", "Partition management on a not partitioned table is not possible"},
	{ErDropPartitionNonExistent, "HY000", "Error in list of partitions to %.64s"},
	{ErDropLastPartition, "HY000", "Cannot remove all partitions, use DROP TABLE instead"},
	{ErSameNamePartition, "HY000", "Duplicate partition name %.192s"},
	{ErPluginIsNotLoaded, "HY000", "Plugin '%.192s' is not loaded"},
	{ErWrongValue, "HY000", "Incorrect %.32s value: '%.128s'"},
	{ErNoPartitionForGivenValue, "HY000", "Table has no partition for value %.64s"},
	{ErBinlogRowLoggingFailed, "HY000", "Writing one row to the row-based binary log failed"},
	{ErEventAlreadyExists, "HY000", "Event '%.192s' already exists"},
	{ErEventDoesNotExist, "HY000", "Unknown event '%.192s'"},
	{ErEventIntervalNotPositiveOrTooBig, "HY000", "INTERVAL is either not positive or too big"},
	{ErEventEndsBeforeStarts, "HY000", "ENDS is either invalid or before STARTS"},
	{ErCannotLoadFromTableV2, "HY000", "Cannot load from mysql.%s. The table is probably corrupted"},
	{ErDropIndexFk, "HY000", "Cannot drop index '%.192s': needed in a foreign key constraint"},
	{ErWarnDeprecatedSyntaxWithVer, "HY000", "The syntax '%s' is deprecated and will be removed in MySQL %s. Please use %s instead"},
	{ErCantLockLogTable, "HY000", "You can't use locks with log tables."},
	{ErForeignDuplicateKeyOldUnused, "23000", "Upholding foreign key constraints for table '%.192s', entry '%.192s', key %d would lead to a duplicate entry"},
	{ErTempTablePreventsSwitchOutOfRbr, "HY000", "Cannot switch out of the row-based binary log format when the session has open temporary tables"},
	{ErPartitionFunctionIsNotAllowed, "HY000", "This partition function is not allowed"},
	{ErWrongPartitionName, "HY000", "Incorrect partition name"},
	{ErCantChangeTxCharacteristics, "25001", "Transaction characteristics can't be changed while a transaction is in progress"},
	{ErDupEntryAutoincrementCase, "HY000", "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry '%.192s' for key '%.192s'"},
	{ErEventRecursionForbidden, "HY000", "Recursion of EVENT DDL statements is forbidden when body is present"},
	{ErWrongParamcountToNativeFct, "42000", "Incorrect parameter count in the call to native function '%.192s'"},
	{ErWrongParametersToNativeFct, "42000", "Incorrect parameters in the call to native function '%.192s'"},
	{ErWrongParametersToStoredFct, "42000", "Incorrect parameters in the call to stored function %.192s"},
	{ErNativeFctNameCollision, "HY000", "This function '%.192s' has the same name as a native function"},
	{ErDupEntryWithKeyName, "23000", "Duplicate entry '%.64s' for key '%.385s'"},
	{ErBinlogPurgeEmfile, "HY000", "Too many files opened, please execute the command again"},
	{ErBinlogUnsafeStatement, "HY000", "Unsafe statement written to the binary log using statement format since BINLOG_FORMAT = STATEMENT. %s"},
	{ErLoadDataInvalidColumn, "HY000", "Invalid column reference (%.64s) in LOAD DATA"},
	{ErXARbtimeout, "XA106", "XA_RBTIMEOUT: Transaction branch was rolled back: took too long"},
	{ErXARbdeadlock, "XA102", "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected"},
	{ErNeedReprepare, "HY000", "Prepared statement needs to be re-prepared"},
	{ErDelayedNotSupported, "HY000", "DELAYED option not supported for table '%.192s'"},
	{ErVariableIsReadonly, "HY000", "%s variable '%s' is read-only. Use SET %s to assign the value"},
	{ErWarnEngineTransactionRollback, "HY000", "Storage engine %s does not support rollback for this statement. Transaction rolled back and must be restarted"},
	{ErConflictFnParseError, "HY000", "Error in parsing conflict function. Message: %.64s"},
	{ErTooLongTableComment, "HY000", "Comment for table '%.64s' is too long (max = %d)"},
	{ErTooLongFieldComment, "HY000", "Comment for field '%.64s' is too long (max = %d)"},
	{ErFuncInexistentNameCollision, "42000", "FUNCTION %s does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual"},
	{ErSignalWarn, "01000", "Unhandled user-defined warning condition"},
	{ErSignalNotFound, "02000", "Unhandled user-defined not found condition"},
	{ErSignalException, "HY000", "Unhandled user-defined exception condition"},
	{ErResignalWithoutActiveHandler, "0K000", "RESIGNAL when handler not active"},
	{ErSignalBadConditionType, "HY000", "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE"},
	{ErWarnDeprecatedSyntaxNoReplacement, "HY000", "'%s' is deprecated and will be removed in a future release."},
	{ErSpatialMustHaveGeomCol, "42000", "A SPATIAL index may only contain a geometrical type column"},
	{ErTooLongIndexComment, "HY000", "Comment for index '%.64s' is too long (max = %d)"},
	{ErLockAborted, "HY000", "Wait on a lock was aborted due to a pending exclusive lock"},
	{ErDataOutOfRange, "22003", "%s value is out of range in '%s'"},
	{ErWrongSpvarTypeInLimit, "HY000", "A variable of a non-integer based type in LIMIT clause"},
	{ErBinlogUnsafeMixedStatement, "HY000", "Mixing self-logging and non-self-logging engines in a statement is unsafe."},
	{ErStoredFunctionPreventsSwitchSQLLogBin, "HY000", "Cannot change the sql_log_bin inside a stored function or trigger"},
	{ErAccessDeniedNoPassword, "28000", "Access denied for user '%.48s'@'%.64s'"},
	{ErSetPasswordAuthPlugin, "HY000", "SET PASSWORD has no significance for user '%.48s'@'%.64s' as authentication plugin does not support it."},
	{ErTruncateIllegalFk, "42000", "Cannot truncate a table referenced in a foreign key constraint (%.192s)"},
	{ErMultiUpdateKeyConflict, "HY000", "Primary key/partition key update is not allowed since the table is updated both as '%.192s' and '%.192s'."},
	{ErIndexColumnTooLong, "HY000", "Index column size too large. The maximum column size is %d bytes."},
	{ErIndexCorrupt, "HY000", "Index %s is corrupted"},
	{ErUndoRecordTooBig, "HY000", "Undo log record is too big."},
	{ErUnknownPartition, "HY000", "Unknown partition '%.64s' in table '%.64s'"},
	{ErPartitionClauseOnNonpartitioned, "HY000", "PARTITION () clause on non partitioned table"},
	{ErRowDoesNotMatchGivenPartitionSet, "HY000", "Found a row not matching the given partition set"},
	{ErForeignDuplicateKey, "23000", "Foreign key constraint for table '%.192s', record '%s' would lead to a duplicate entry in table '%.192s', key '%.192s'"},
	{ErVariableNotSettableInSF, "HY000", "The system variable %s cannot be set in stored functions or triggers."},
	{ErVariableNotSettableInTransaction, "HY000", "The system variable %s cannot be set when there is an ongoing transaction."},
	{ErCantExecuteInReadOnlyTransaction, "25006", "Cannot execute statement in a READ ONLY transaction."},
	{ErTooLongTablePartitionComment, "HY000", "Comment for table partition '%.64s' is too long (max = %d)"},
	{ErTablespaceExists, "HY000", "Tablespace '%.192s' exists."},
	{ErMustChangePassword, "HY000", "You must reset your password using ALTER USER statement before executing this statement."},
	{ErFkNoIndexChild, "HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the foreign table '%s'"},
	{ErFkNoIndexParent, "HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'"},
	{ErFkFailAddSystem, "HY000", "Failed to add the foreign key constraint '%s' to system tables"},
	{ErFkCannotOpenParent, "HY000", "Failed to open the referenced table '%s'"},
	{ErFkIncorrectOption, "HY000", "Failed to add the foreign key constraint on table '%s'. Incorrect options in FOREIGN KEY constraint '%s'"},
	{ErFkDupName, "HY000", "Duplicate foreign key constraint name '%s'"},
	{ErPasswordFormat, "HY000", "The password hash doesn't have the expected format."},
	{ErFkColumnCannotDrop, "HY000", "Cannot drop column '%.192s': needed in a foreign key constraint '%.192s'"},
	{ErFkColumnCannotDropChild, "HY000", "Cannot drop column '%.192s': needed in a foreign key constraint '%.192s' of table '%.192s'"},
	{ErFkColumnNotNull, "HY000", "Column '%.192s' cannot be NOT NULL: needed in a foreign key constraint '%.192s' SET NULL"},
	{ErDupIndex, "HY000", "Duplicate index '%.64s' defined on the table '%.64s.%.64s'. This is deprecated and will be disallowed in a future release."},
	{ErFkColumnCannotChange, "HY000", "Cannot change column '%.64s': used in a foreign key constraint '%.64s'"},
	{ErFkColumnCannotChangeChild, "HY000", "Cannot change column '%.64s': used in a foreign key constraint '%.64s' of table '%.64s'"},
	{ErMalformedPacket, "HY000", "Malformed communication packet."},
	{ErReadOnlyMode, "HY000", "Running in read-only mode"},
	{ErAlterOperationNotSupported, "0A000", "%s is not supported for this operation. Try %s."},
	{ErAlterOperationNotSupportedReason, "0A000", "%s is not supported. Reason: %s. Try %s."},
	{ErDupUnknownInIndex, "23000", "Duplicate entry for key '%.192s'"},
	{ErIdentCausesTooLongPath, "HY000", "Long database name and identifier for object resulted in path length exceeding %d characters. Path: '%s'."},
	{ErInnodbReadOnly, "HY000", "InnoDB is in read only mode."},
	{ErOldTemporalsUpgraded, "HY000", "TIME/TIMESTAMP/DATETIME columns of old format have been upgraded to the new format."},
	{ErCRServerGone, "HY000", "MySQL server has gone away"},
	{ErCRServerLost, "HY000", "Lost connection to MySQL server during query"},
	{ErCRMalformedPacket, "HY000", "Malformed packet"},
	{ErFkDepthExceeded, "HY000", "Foreign key cascade delete/update exceeds max depth of %d."},
	{ErTargetNotExplainable, "HY000", "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE"},
	{ErInvalidFieldSize, "HY000", "Invalid size for column '%s'."},
	{ErExplainNotSupported, "HY000", "'%s' is not supported for EXPLAIN"},
	{ErInvalidArgumentForLogarithm, "2201E", "Invalid argument for logarithm"},
	{ErQueryTimeout, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"},
	{ErAggregateOrderForUnion, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT"},
	{ErAggregateOrderNonAggQuery, "HY000", "Expression #%d of ORDER BY contains aggregate function and applies to the result of a non-aggregated query"},
	{ErUserLockWrongName, "42000", "Incorrect user-level lock name '%.192s'."},
	{ErUserLockDeadlock, "HY000", "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition."},
	{ErReplaceInaccessibleRows, "HY000", "REPLACE cannot be executed as it requires deleting rows that are not in the view"},
	{ErAlterOperationNotSupportedGis, "HY000", "Do not support online operation on table with GIS index"},
	{ErIncorrectType, "HY000", "Incorrect type for argument %s in function %s."},
	{ErFieldInOrderNotSelect, "HY000", "Expression #%d of %s is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with %s"},
	{ErAggregateInOrderNotSelect, "HY000", "Expression #%d of %s is not in SELECT list, contains aggregate function; this is incompatible with %s"},
	{ErNetOkPacketTooLarge, "08S01", "OK packet too large"},
	{ErInvalidJSONData, "HY000", "Invalid JSON data provided to function %s: %s"},
	{ErGeneratedColumnFunctionIsNotAllowed, "HY000", "Expression of generated column '%s' contains a disallowed function."},
	{ErWrongFkOptionForGeneratedColumn, "HY000", "Cannot define foreign key with %s clause on a generated column."},
	{ErNonDefaultValueForGeneratedColumn, "HY000", "The value specified for generated column '%s' in table '%s' is not allowed."},
	{ErUnsupportedActionOnGeneratedColumn, "HY000", "'%s' is not supported for generated columns."},
	{ErGeneratedColumnNonPrior, "HY000", "Generated column can refer only to generated columns defined prior to it."},
	{ErDependentByGeneratedColumn, "HY000", "Column '%s' has a generated column dependency."},
	{ErGeneratedColumnRefAutoInc, "HY000", "Generated column '%s' cannot refer to auto-increment column."},
	{ErAccountHasBeenLocked, "HY000", "Access denied for user '%s'@'%s'. Account is locked."},
	{ErWarnConflictingHint, "HY000", "Hint %s is ignored as conflicting/duplicated"},
	{ErWarnUnknownQbName, "HY000", "Query block name %s is not found for %s hint"},
	{ErUnresolvedHintName, "HY000", "Unresolved name %s for %s hint"},
	{ErInvalidJSONText, "22032", "Invalid JSON text: \"%s\" at position %d in value for column '%.200s'."},
	{ErInvalidJSONTextInParam, "22032", "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.%.0s"},
	{ErInvalidJSONBinaryData, "HY000", "The JSON binary value contains invalid data."},
	{ErInvalidJSONPath, "42000", "Invalid JSON path expression. The error is around character position %d.%.200s"},
	{ErInvalidJSONCharset, "22032", "Cannot create a JSON value from a string with CHARACTER SET '%s'."},
	{ErInvalidJSONCharsetInFunction, "22032", "Invalid JSON character data provided to function %s: '%s'; utf8 is required."},
	{ErInvalidTypeForJSON, "22032", "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required."},
	{ErInvalidCastToJSON, "22032", "Cannot CAST value to JSON."},
	{ErInvalidJSONPathCharset, "42000", "A path expression must be encoded in the utf8 character set. The path expression '%s' is encoded in character set '%s'."},
	{ErInvalidJSONPathWildcard, "42000", "In this situation, path expressions may not contain the * and ** tokens or an array range."},
	{ErJSONValueTooBig, "22032", "The JSON value is too big to be stored in a JSON column."},
	{ErJSONKeyTooBig, "22032", "The JSON object contains a key name that is too long."},
	{ErJSONUsedAsKey, "42000", "JSON column '%.192s' supports indexing only via generated columns on a specified JSON path."},
	{ErJSONVacuousPath, "42000", "The path expression '$' is not allowed in this context."},
	{ErJSONBadOneOrAllArg, "42000", "The oneOrAll argument to %s may take these values: 'one' or 'all'."},
	{ErNumericJSONValueOutOfRange, "22003", "Out of range JSON value for CAST to %s from column %s at row %d"},
	{ErInvalidJSONValueForCast, "22018", "Invalid JSON value for CAST to %s from column %s at row %d"},
	{ErJSONDocumentTooDeep, "22032", "The JSON document exceeds the maximum depth."},
	{ErJSONDocumentNullKey, "22032", "JSON documents may not contain NULL member names."},
	{ErSecureTransportRequired, "HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON."},
	{ErUserDoesNotExist, "HY000", "Authorization ID %s does not exist."},
	{ErUserAlreadyExists, "HY000", "Authorization ID %s already exists."},
	{ErInvalidJSONPathArrayCell, "42000", "A path expression is not a path to a cell in an array."},
	{ErPkIndexCantBeInvisible, "HY000", "A primary key index cannot be invisible"},
	{ErUnknownAuthID, "HY000", "Unknown authorization ID `%.64s`@`%.64s`"},
	{ErRoleNotGranted, "HY000", "%s is not granted to %s"},
	{ErLockNowait, "HY000", "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set."},
	{ErCteRecursiveRequiresUnion, "HY000", "Recursive Common Table Expression '%s' should contain a UNION"},
	{ErCteRecursiveRequiresNonrecursiveFirst, "HY000", "Recursive Common Table Expression '%s' should have one or more non-recursive query blocks followed by one or more recursive ones"},
	{ErCteRecursiveForbidsAggregation, "HY000", "Recursive Common Table Expression '%s' can contain neither aggregation nor window functions in recursive query block"},
	{ErCteRecursiveForbiddenJoinOrder, "HY000", "In recursive query block of Recursive Common Table Expression '%s', the recursive table must neither be in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints"},
	{ErInvalidRequiresSingleReference, "HY000", "In recursive query block of Recursive Common Table Expression '%s', the recursive table must be referenced only once, and not in any subquery"},
	{ErWindowNoSuchWindow, "HY000", "Window name '%s' is not defined."},
	{ErWindowCircularity, "HY000", "There is a circularity in the window dependency graph."},
	{ErDuplicateNameInWindow, "HY000", "Window '%s' is defined twice."},
	{ErWindowFunctionInvalid, "HY000", "You cannot use the window function '%s' in this context.'"},
	{ErNotImplementedForWindow, "HY000", "'%s'"},
	{ErIllegalPrivilegeLevel, "HY000", "Illegal privilege level specified for %s"},
	{ErCteMaxRecursionDepth, "HY000", "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value."},
	{ErMissingJSONTableValue, "22035", "Missing value for JSON_TABLE column '%s'"},
	{ErWrongJSONTableValue, "2203F", "Can't store an array or an object in the scalar JSON_TABLE column '%s'"},
	{ErTFMustHaveAlias, "42000", "Every table function must have an alias."},
	{ErJTValueOutOfRange, "22003", "Value is out of range for JSON_TABLE's column '%s'"},
	{ErRegexpBufferOverflow, "HY000", "The result string is larger than the result buffer."},
	{ErRegexpIllegalArgument, "HY000", "Illegal argument to a regular expression."},
	{ErRegexpIndexOutOfBounds, "HY000", "Index out of bounds in regular expression search."},
	{ErRegexpInternalError, "HY000", "Internal error in the regular expression library."},
	{ErRegexpRuleSyntax, "HY000", "Syntax error in regular expression on line %d, character %d."},
	{ErRegexpBadEscapeSequence, "HY000", "Unrecognized escape sequence in regular expression."},
	{ErRegexpUnimplemented, "HY000", "The regular expression contains a feature that is not implemented in this library version."},
	{ErRegexpMismatchedParen, "HY000", "Mismatched parenthesis in regular expression."},
	{ErRegexpBadInterval, "HY000", "Incorrect description of a {min,max} interval."},
	{ErRegexpMaxLtMin, "HY000", "The maximum is less than the minumum in a {min,max} interval."},
	{ErRegexpInvalidBackRef, "HY000", "Invalid back-reference in regular expression."},
	{ErRegexpLookBehindLimit, "HY000", "The look-behind assertion exceeds the limit in regular expression."},
	{ErRegexpMissingCloseBracket, "HY000", "The regular expression contains an unclosed bracket expression."},
	{ErRegexpInvalidRange, "HY000", "The regular expression contains an [x-y] character range where x comes after y."},
	{ErRegexpStackOverflow, "HY000", "Overflow in the regular expression backtrack stack."},
	{ErRegexpTimeOut, "HY000", "Timeout exceeded in regular expression match."},
	{ErRegexpPatternTooBig, "HY000", "The regular expression pattern exceeds limits on size or complexity."},
	{ErInvalidDefaultUTF8MB4Collation, "HY000", "Invalid default collation %s: utf8mb4_0900_ai_ci or utf8mb4_general_ci expected"},
	{ErFkCannotDropParent, "HY000", "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'."},
	{ErForeignKeyWithVirtualColumn, "HY000", "Foreign key '%s' uses virtual column '%s' which is not supported."},
	{ErFkNoColumnParent, "HY000", "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'"},
	{ErDataTruncatedFunctionalIndex, "01000", "Data truncated for functional index '%s' at row %d"},
	{ErFunctionalIndexOnJSONOrGeometryFunction, "42000", "Cannot create a functional index on a function that returns a JSON or GEOMETRY value."},
	{ErFunctionalIndexRefAutoIncrement, "HY000", "Functional index '%s' cannot refer to an auto-increment column."},
	{ErFunctionalIndexPrimaryKey, "HY000", "The primary key cannot be a functional index"},
	{ErFunctionalIndexOnLob, "HY000", "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST."},
	{ErFunctionalIndexFunctionIsNotAllowed, "HY000", "Expression of functional index '%s' contains a disallowed function."},
	{ErFunctionalIndexOnField, "HY000", "Functional index on a column is not supported. Consider using a regular index instead."},
	{ErGeneratedColumnNamedFunctionIsNotAllowed, "HY000", "Expression of generated column '%s' contains a disallowed function: %s."},
	{ErGeneratedColumnRowValue, "HY000", "Expression of generated column '%s' cannot refer to a row value."},
	{ErDependentByDefaultGeneratedValue, "HY000", "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed."},
	{ErDefaultValGeneratedNonPrior, "HY000", "Default value expression of column '%s' cannot refer to a column defined after it if that column is a generated column or has an expression as default value."},
	{ErDefaultValGeneratedRefAutoInc, "HY000", "Default value expression of column '%s' cannot refer to an auto-increment column."},
	{ErDefaultValGeneratedFunctionIsNotAllowed, "HY000", "Default value expression of column '%s' contains a disallowed function."},
	{ErDefaultValGeneratedNamedFunctionIsNotAllowed, "HY000", "Default value expression of column '%s' contains a disallowed function: %s."},
	{ErDefaultValGeneratedRowValue, "HY000", "Default value expression of column '%s' cannot refer to a row value."},
	{ErDefaultValGeneratedVariables, "HY000", "Default value expression of column '%s' cannot refer user or system variables."},
	{ErWarnDeprecatedCollation, "HY000", "'%s' is a collation of the deprecated character set %s. Please consider using %s with an appropriate collation instead."},
	{ErFkIncompatibleColumns, "HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible."},
	{ErFunctionalIndexRowValue, "HY000", "Expression of functional index '%s' cannot refer to a row value."},
	{ErColumnCheckConstraintReferencesOtherColumn, "HY000", "Column check constraint '%s' references other column."},
	{ErCheckConstraintNamedFunctionIsNotAllowed, "HY000", "An expression of a check constraint '%s' contains disallowed function: %s."},
	{ErCheckConstraintFunctionIsNotAllowed, "HY000", "An expression of a check constraint '%s' contains disallowed function."},
	{ErCheckConstraintVariables, "HY000", "An expression of a check constraint '%s' cannot refer to a user or system variable."},
	{ErCheckConstraintRefersAutoIncrementColumn, "HY000", "Check constraint '%s' cannot refer to an auto-increment column."},
	{ErCheckConstraintViolated, "HY000", "Check constraint '%.192s' is violated."},
	{ErCheckConstraintRefersUnknownColumn, "HY000", "Check constraint '%s' refers to non-existing column '%s'."},
	{ErCheckConstraintNotFound, "HY000", "Check constraint '%s' is not found in the table."},
	{ErCheckConstraintDupName, "HY000", "Duplicate check constraint name '%s'."},
	{ErCheckConstraintClauseUsingFkRefer, "HY000", "Column '%s' cannot be used in a check constraint '%s': needed in a foreign key constraint '%s' referential action."},
	{ErDependentByFunctionalIndex, "HY000", "Column '%s' has a functional index dependency and cannot be dropped or renamed."},
	{ErInvalidJSONType, "22032", "Invalid JSON type in argument %d to function %s; an %s is required."},
	{ErImpossibleStringConversion, "HY000", "Cannot convert string '%.64s' from %s to %s"},
	{ErRegexpInvalidFlag, "HY000", "Invalid match mode flag in regular expression."},
	{ErConstraintNotFound, "HY000", "Constraint '%.192s' does not exist."},
	{ErValuesWithoutColumns, "HY000", "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT statement."},
	{ErMisplacedInto, "HY000", "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses."},
	{ErUserAccessDeniedForUserAccountBlockedByPasswordLock, "HY000", "Access denied for user '%s'@'%s'. Account is blocked for %s day(s) (%s day(s) remaining) due to %d consecutive failed logins."},
	{ErDependentByCheckConstraint, "HY000", "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed."},
	{ErMissingJSONValue, "22035", "No value was found by '%s' on the specified path."},
	{ErMultipleJSONValues, "22034", "More than one value was found by '%s' on the specified path."},
	{ErCannotConvertString, "HY000", "Conversion from collation %s into %s impossible for %s"},
	{ErCharacterSetMismatch, "HY000", "Character set '%s' cannot be used in conjunction with '%s' in call to %s."},
	{ErInvisibleColumnNoVisible, "HY000", "A table must have at least one visible column."},
	{ErClientInteractionTimeout, "HY000", "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior."},
	{ErWarnDeprecatedDatetimeDelimiter, "HY000", "Delimiter '%s' in position %d in datetime value '%s' at row %d is deprecated. Prefer the standard '%s'."},
	{ErWarnDeprecatedSuperfluousDelimiter, "HY000", "Delimiter '%s' in position %d in datetime value '%s' at row %d is superfluous and is deprecated. Please remove."},
	{ErWarnFkNonStandard, "HY000", "Foreign key '%s' refers to non-unique key or partial key. This is deprecated and will be removed in a future release."},
	{ErFkNoUniqueIndexParent, "HY000", "Failed to add the foreign key constraint. Missing unique key for constraint '%s' in the referenced table '%s'"},
	{ErTxnTooLarge, "HY000", "Transaction is too large, size: %d"},
	{ErInfoSchemaExpired, "HY000", "Information schema is out of date: schema failed to update in 1 lease, please make sure this node can reach the cluster"},
	{ErInfoSchemaChanged, "HY000", "Information schema is changed during the execution of the statement(for example, table definition may be updated by other DDL ran in parallel). [try again later]"},
	{ErSnapshotTooOld, "HY000", "snapshot is older than max_snapshot_age, please retry transaction"},
	{ErResultUndetermined, "HY000", "The outcome of the commit is not known: %s"},
	{ErRegionUnavailable, "HY000", "Region is unavailable"},
	{ErWriteConflict, "HY000", "Write conflict, %s [try again later]"},
}
