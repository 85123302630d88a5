package types

// date converts to DATE, DATETIME and TIMESTAMP.
func (c *conversion) date(v *Value) (Value, error) {
	if v.K == KindTimestamp && c.to.ID == TypeTimestamp {
		return c.instant(v)
	}
	packed, tenths, flags, p := readDate(c.ctx, v)
	if p == dateFine {
		p = checkZero(c.ctx.mode(), packed)
	}
	if p == dateFine && (v.K == KindDate || v.K == KindDatetime) { // another sql_mode may have let it in
		d := UnpackDatetime(packed)
		p = checkDays(c.ctx, &d)
	}
	switch p {
	case dateFine:
	case dateZero, dateZeroPart:
		// Outside strict mode, the zero date is stored for both.
		return c.zeroDate(), c.badDate(v, ErWarnDataOutOfRange)
	case dateIncorrect:
		return c.zeroDate(), c.badDate(v, ErWarnDataTruncated)
	default:
		return c.zeroDate(), c.badDate(v, ErWarnDataOutOfRange)
	}
	warnOdd(c.ctx, v, flags, c.row)
	if flags&parsedTrailing != 0 {
		if err := c.badDate(v, ErWarnDataTruncated); err != nil {
			return Value{}, err
		}
	}
	fsp := uint8(max(c.to.Scale, 0)) // a DATE is rounded to whole seconds, too, and may be the next day
	rounded, ok := roundDate(c.ctx, packed, tenths, fsp)
	if !ok { // beyond the year 9999
		if c.ctx.strict() {
			return c.zeroDate(), c.problem(Errorf(ErDatetimeFunctionOverflow, "datetime"))
		}
		c.ctx.Warn(LevelWarning, ErDatetimeFunctionOverflow, "datetime")
		return c.zeroDate(), c.badDate(v, ErWarnDataOutOfRange)
	}
	if c.to.ID == TypeDate {
		if v.K == KindJSON {
			rounded = packed
		}
		day := rounded >> packedDateShift << packedDateShift
		if day != packed {
			c.dateNote(v)
		}
		return Date(day), nil
	}
	packed = rounded
	if c.to.ID == TypeDatetime {
		return Datetime(packed, fsp), nil
	}
	us, gap, ok := unixFromPacked(packed, c.ctx.Location(), MaxTimestampMicros)
	if !ok {
		return c.zeroDate(), c.badDate(v, ErWarnDataOutOfRange)
	}
	if gap {
		return Timestamp(us, fsp), c.badDate(v, ErWarnInvalidTimestamp)
	}
	return Timestamp(us, fsp), nil
}

// instant converts a TIMESTAMP to one of other precision, without a time zone.
func (c *conversion) instant(v *Value) (Value, error) {
	fsp := uint8(c.to.Scale)
	us := roundMicros(v.N, fsp, c.ctx.truncates())
	if us > MaxTimestampMicros || v.N == 0 && checkZero(c.ctx.mode(), 0) != dateFine {
		return c.zeroDate(), c.badDate(v, ErWarnDataOutOfRange)
	}
	return Timestamp(us, fsp), nil
}

func (c *conversion) zeroDate() Value {
	return Value{K: typeKinds[c.to.ID], Scale: uint8(c.to.Scale)}
}

// badDate reports 1292, "Incorrect date value: 'x' for column 'c' at row 1", in strict
// mode; otherwise it raises the warning number.
func (c *conversion) badDate(v *Value, number uint16) error {
	if !c.ctx.strict() {
		return c.problem(Errorf(number, c.col, c.row))
	}
	return c.incorrectDate(v)
}

// dateNote tells that a part of v, the date or the time of day, has no place in the column: 1265, and in strict mode, which lets it be, the text
// of 1292.
func (c *conversion) dateNote(v *Value) {
	if !c.ctx.strict() {
		c.note()
		return
	}
	c.ctx.AddError(LevelNote, c.incorrectDate(v))
}

// incorrectDate is 1292 about a value for the column.
func (c *conversion) incorrectDate(v *Value) *Error {
	what := "datetime"
	switch c.to.ID {
	case TypeDate:
		what = "date"
	case TypeTime:
		what = "time"
	}
	text := AppendText(nil, c.ctx, v)
	e := Errorf(ErTruncatedWrongValueForField, what, text, c.col, c.row)
	return NewError(ErTruncatedWrongValue, e.Message)
}

// time converts to TIME.
func (c *conversion) time(v *Value) (Value, error) {
	fsp := uint8(c.to.Scale)
	us, tenths, _, flags, ok := readTime(c.ctx, v)
	if !ok {
		if flags&parsedOverflow != 0 {
			return Time(0, fsp), c.badDate(v, ErWarnDataOutOfRange)
		}
		return Time(0, fsp), c.badDate(v, ErWarnDataTruncated)
	}
	warnOdd(c.ctx, v, flags, c.row)
	us, cut := roundTime(c.ctx, us, tenths, fsp)
	switch {
	case cut || flags&parsedOverflow != 0:
		return Time(us, fsp), c.badDate(v, ErWarnDataOutOfRange)
	case flags&parsedTrailing != 0:
		return Time(us, fsp), c.badDate(v, ErWarnDataTruncated)
	case flags&parsedDate != 0 && (hasText(v.K) || v.IsNumeric()):
		c.dateNote(v)
	}
	return Time(us, fsp), nil
}
