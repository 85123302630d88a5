package tpch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pandodb/pando/bench/insert"
)

// generator makes rows by the rules of clause 4.2.3.
type generator struct {
	*insert.Batch
	*rand.Rand
	scale Scale
}

func newGenerator(b *insert.Batch, s Scale, seed, part uint64) *generator {
	return &generator{Batch: b, Rand: rand.New(rand.NewPCG(seed, part)), scale: s}
}

var regions = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}

var nations = []struct {
	name   string
	region int
}{
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2}, {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4},
	{"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3},
	{"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
}

// The standard's lists of words (clause 4.2.2.13), the grammar's ones in part.
var (
	colours = strings.Fields(`almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan
		dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon
		medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna
		sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow`)
	typeSizes     = strings.Fields("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO")
	typeFinishes  = strings.Fields("ANODIZED BURNISHED PLATED POLISHED BRUSHED")
	typeMetals    = strings.Fields("TIN NICKEL BRASS STEEL COPPER")
	boxSizes      = strings.Fields("SM LG MED JUMBO WRAP")
	boxes         = strings.Fields("CASE BOX BAG JAR PKG PACK CAN DRUM")
	segments      = strings.Fields("AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD")
	priorities    = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	instructions  = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes         = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	nouns         = strings.Fields("foxes ideas theodolites packages pinto instructions dependencies excuses platelets asymptotes courts dolphins multipliers sauternes warthogs requests accounts deposits")
	verbs         = strings.Fields("sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve thrash promise engage hinder print doze run dazzle")
	adjectives    = strings.Fields("furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent enticing idle busy regular final ironic even bold silent special express")
	adverbs       = strings.Fields("sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly ruthlessly thinly closely doggedly daringly bravely stealthily")
	prepositions  = strings.Fields("about above after against along among around at before behind beneath beside between beyond by despite during except for from inside into near of on outside over past")
	wordsInTurn   = [][]string{adverbs, adjectives, nouns, verbs, prepositions, adjectives, nouns}
	firstDay      = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	currentDay    = days(time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC))
	lastOrderDay  = days(time.Date(1998, 12, 31, 0, 0, 0, 0, time.UTC)) - 151
	addressLetter = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,"
)

// days counts from the first day of the data.
func days(at time.Time) int { return int(at.Sub(firstDay) / (24 * time.Hour)) }

func date(day int) string { return firstDay.AddDate(0, 0, day).Format(time.DateOnly) }

// between is uniform, both ends included.
func (g *generator) between(low, high int) int { return low + g.IntN(high-low+1) }

func (g *generator) one(of []string) string { return of[g.IntN(len(of))] }

// text is a comment between two lengths.
func (g *generator) text(low, high int) string {
	length := g.between(low, high)
	var b strings.Builder
	for turn := g.IntN(len(wordsInTurn)); b.Len() < length; turn++ {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.one(wordsInTurn[turn%len(wordsInTurn)]))
	}
	return strings.TrimSpace(b.String()[:length])
}

func (g *generator) address() string {
	b := make([]byte, g.between(10, 40))
	for i := range b {
		b[i] = addressLetter[g.IntN(len(addressLetter))]
	}
	return strings.TrimSpace(string(b))
}

func (g *generator) phone(nation int) string {
	return fmt.Sprintf("%d-%d-%d-%d", nation+10, g.between(100, 999), g.between(100, 999), g.between(1000, 9999))
}

// money prints cents.
func money(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// world makes the two tables whose size does not depend on the scale.
func (g *generator) world() {
	for i, name := range regions {
		g.Add("region", i, name, g.text(31, 115))
	}
	for i, n := range nations {
		g.Add("nation", i, n.name, n.region, g.text(31, 114))
	}
}

func (g *generator) supplier(key int) {
	nation := g.IntN(len(nations))
	comment := g.text(25, 70)
	// Five of ten thousand have complaints and five recommendations, and each scale some.
	switch key % 2000 {
	case 7:
		comment = "Customer " + comment + " Complaints"
	case 11:
		comment = "Customer " + comment + " Recommends"
	}
	g.Add("supplier", key, fmt.Sprintf("Supplier#%09d", key), g.address(), nation, g.phone(nation), money(g.between(-99_999, 999_999)), comment)
}

// retailPrice is a part's price in cents.
func retailPrice(part int) int { return 90_000 + part/10%20_001 + 100*(part%1000) }

// supplierOf is the supplier of a part, the one of number i from 0 to 3. With few suppliers the step between them is bounded, so that they
// are four: below a third of all.
func (s Scale) supplierOf(part, i int) int {
	n := s.of(suppliersAtOne)
	step := n/suppliersOfPart + (part-1)/n%max(1, n/12)
	return (part+i*step)%n + 1
}

func (g *generator) part(key int) {
	names := make([]string, 0, 5)
	for _, at := range g.Perm(len(colours))[:5] {
		names = append(names, colours[at])
	}
	maker := g.between(1, 5)
	g.Add("part", key, strings.Join(names, " "), fmt.Sprintf("Manufacturer#%d", maker), fmt.Sprintf("Brand#%d%d", maker, g.between(1, 5)),
		g.one(typeSizes)+" "+g.one(typeFinishes)+" "+g.one(typeMetals), g.between(1, 50), g.one(boxSizes)+" "+g.one(boxes), money(retailPrice(key)), g.text(5, 22))
	for i := range suppliersOfPart {
		g.Add("partsupp", key, g.scale.supplierOf(key, i), g.between(1, 9999), money(g.between(100, 100_000)), g.text(49, 198))
	}
}

func (g *generator) customer(key int) {
	nation := g.IntN(len(nations))
	g.Add("customer", key, fmt.Sprintf("Customer#%09d", key), g.address(), nation, g.phone(nation), money(g.between(-99_999, 999_999)), g.one(segments), g.text(29, 116))
}

// order makes an order with its lines. A third of the customers have none; of 32 keys in a row, the first eight are taken.
func (g *generator) order(number int) {
	key := (number-1)/8*32 + (number-1)%8 + 1
	customer := g.between(1, g.scale.of(customersAtOne))
	for customer%3 == 0 {
		customer = g.between(1, g.scale.of(customersAtOne))
	}
	ordered, total, open := g.between(0, lastOrderDay), 0, 0
	lines := make([][]any, g.between(1, 7))
	for i := range lines {
		part := g.between(1, g.scale.of(partsAtOne))
		quantity, discount, tax := g.between(1, 50), g.between(0, 10), g.between(0, 8)
		price := quantity * retailPrice(part)
		total += price * (100 + tax) / 100 * (100 - discount) / 100
		shipped := ordered + g.between(1, 121)
		committed, received := ordered+g.between(30, 90), shipped+g.between(1, 30)
		flag, status := "N", "F"
		if received <= currentDay {
			flag = g.one([]string{"R", "A"})
		}
		if shipped > currentDay {
			status = "O"
			open++
		}
		lines[i] = []any{key, part, g.scale.supplierOf(part, g.IntN(suppliersOfPart)), i + 1, quantity, money(price), money(discount), money(tax), flag, status,
			date(shipped), date(committed), date(received), g.one(instructions), g.one(modes), g.text(10, 43)}
	}
	status := "P"
	switch open {
	case 0:
		status = "F"
	case len(lines):
		status = "O"
	}
	clerk := fmt.Sprintf("Clerk#%09d", g.between(1, g.scale.of(1000)))
	g.Add("orders", key, customer, status, money(total), date(ordered), g.one(priorities), clerk, 0, g.text(19, 78))
	for _, line := range lines {
		g.Add("lineitem", line...)
	}
}
