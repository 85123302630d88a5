package server

import (
	"html/template"
	"net/http"
)

// rootPage is the status port's page for browsers. It loads nothing else.
var rootPage = template.Must(template.New("root").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Pando</title></head>
<body><h1>Pando {{.Version}}</h1>
<p>MySQL protocol at <code>{{.MySQL}}</code>. This node is {{if .Ready}}ready{{else}}not ready{{end}}.</p>
<ul>
<li><a href="/status">/status</a>: versions, uptime, connections and the disk, as JSON</li>
<li><a href="/metrics">/metrics</a>: figures in Prometheus format</li>
<li><a href="/healthz">/healthz</a>: whether storage works</li>
<li><a href="/readyz">/readyz</a>: whether the node serves</li>
<li><a href="/debug/pprof/">/debug/pprof/</a>: Go's profiles, for this machine only</li>
</ul></body></html>
`))

// serveRoot serves the page with links to the others.
func (n *Node) serveRoot(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_ = rootPage.Execute(w, struct {
		Version, MySQL string
		Ready          bool
	}{Version, n.MySQLAddr(), n.ready.Load()}) // fails only if the client is gone
}
