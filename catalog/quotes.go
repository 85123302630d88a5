package catalog

import "strings"

// Quotes says how names are written by SHOW CREATE; the zero value writes all of them in backticks.
type Quotes struct {
	Double bool              // ANSI_QUOTES: in double quotes
	Needed func(string) bool // the names that have to be quoted; nil means all
}

// QuoteIdent returns name in backticks.
func QuoteIdent(name string) string { return Quotes{}.Ident(name) }

// Ident returns name as q writes it.
func (q Quotes) Ident(name string) string { return string(q.append(nil, name)) }

func (q Quotes) append(dst []byte, name string) []byte {
	if q.Needed != nil && !q.Needed(name) {
		return append(dst, name...)
	}
	mark := "`"
	if q.Double {
		mark = `"`
	}
	dst = append(dst, mark...)
	dst = append(dst, strings.ReplaceAll(name, mark, mark+mark)...)
	return append(dst, mark...)
}

// Requote returns a printed statement whose names stand in backticks as q writes them. Strings stay, with their backslashes.
func (q Quotes) Requote(text string) string {
	if !q.Double && q.Needed == nil {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		end := i + 1
		switch text[i] {
		case '\'':
			for end < len(text) && text[end] != '\'' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out = append(out, text[i:end]...)
		case '`':
			var name []byte
			for ; end < len(text); end++ {
				if text[end] == '`' {
					if end+1 == len(text) || text[end+1] != '`' {
						break
					}
					end++
				}
				name = append(name, text[end])
			}
			end = min(end+1, len(text))
			out = q.append(out, string(name))
		default:
			out = append(out, text[i])
		}
		i = end
	}
	return string(out)
}
