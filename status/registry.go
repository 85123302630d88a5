package status

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// Namespace stands in front of every metric name.
const Namespace = "pando"

// Labels tell the members of one family apart. Nil means none. They are fixed at registration: a label never carries
// anything that a client can make up.
type Labels map[string]string

// Registry holds the metrics of one node and writes them as Prometheus text. It is safe for concurrent use.
type Registry struct {
	reg *prometheus.Registry

	// mu guards hooks. It is held while they run, so that a hook need not be safe for concurrent use; a hook may not register.
	mu    sync.Mutex
	hooks []func()
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{reg: prometheus.NewRegistry()} }

// Counter shows c as pando_<name>.
func (r *Registry) Counter(name, help string, labels Labels, c *Counter) error {
	return r.CounterFunc(name, help, labels, func() float64 { return float64(c.Load()) })
}

// CounterFunc shows a count that is kept elsewhere. f must be safe for concurrent use and must not block.
func (r *Registry) CounterFunc(name, help string, labels Labels, f func() float64) error {
	return r.register(name, prometheus.NewCounterFunc(prometheus.CounterOpts(options(name, help, labels)), f))
}

// Gauge shows g as pando_<name>.
func (r *Registry) Gauge(name, help string, labels Labels, g *Gauge) error {
	return r.GaugeFunc(name, help, labels, func() float64 { return float64(g.Load()) })
}

// GaugeFunc shows a value that is kept elsewhere. f must be safe for concurrent use and must not block.
func (r *Registry) GaugeFunc(name, help string, labels Labels, f func() float64) error {
	return r.register(name, prometheus.NewGaugeFunc(prometheus.GaugeOpts(options(name, help, labels)), f))
}

// Histogram shows h in its own unit, bytes or rows for example.
func (r *Registry) Histogram(name, help string, labels Labels, h *Histogram) error {
	return r.histogram(name, help, labels, h, 1)
}

// DurationHistogram shows h, whose observations are nanoseconds, in seconds. By convention the name ends in _seconds.
func (r *Registry) DurationHistogram(name, help string, labels Labels, h *Histogram) error {
	return r.histogram(name, help, labels, h, 1e-9)
}

// Process shows what every program in Go shows: go_* of the runtime and the build, and process_* of the operating system.
func (r *Registry) Process() error {
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector()} {
		if err := r.reg.Register(c); err != nil {
			return fmt.Errorf("metrics of the process: %w", err)
		}
	}
	return nil
}

// BeforeWrite registers f to run at the start of every WriteText, to take one snapshot that many metrics then show.
func (r *Registry) BeforeWrite(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hooks = append(r.hooks, f)
}

// WriteText writes all metrics in the Prometheus text format.
func (r *Registry) WriteText(w io.Writer) error {
	r.mu.Lock()
	for _, hook := range r.hooks {
		hook()
	}
	r.mu.Unlock()
	families, err := r.reg.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(w, family); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}

// TextContentType is the media type of what WriteText writes.
const TextContentType = "text/plain; version=0.0.4; charset=utf-8"

func (r *Registry) histogram(name, help string, labels Labels, h *Histogram, scale float64) error {
	desc := prometheus.NewDesc(prometheus.BuildFQName(Namespace, "", name), help, nil, prometheus.Labels(labels))
	return r.register(name, &histogramCollector{desc: desc, h: h, scale: scale})
}

func (r *Registry) register(name string, c prometheus.Collector) error {
	if !plain(name) {
		return fmt.Errorf("metric name %q is not made of lower-case letters, digits and underscores", name)
	}
	err := r.reg.Register(c)
	var taken prometheus.AlreadyRegisteredError
	switch {
	case errors.As(err, &taken):
		return fmt.Errorf("metric %s is registered twice", name)
	case err != nil:
		return fmt.Errorf("metric %s: %w", name, err)
	}
	return nil
}

// plain is stricter than Prometheus, which by now takes any UTF-8 in a name and makes every query quote it.
func plain(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != ""
}

func options(name, help string, labels Labels) prometheus.Opts {
	return prometheus.Opts{Namespace: Namespace, Name: name, Help: help, ConstLabels: prometheus.Labels(labels)}
}

// histogramCollector turns the fixed buckets into a Prometheus histogram when it is read.
type histogramCollector struct {
	desc  *prometheus.Desc
	h     *Histogram
	scale float64
}

// Describe implements prometheus.Collector.
func (c *histogramCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector. Only powers of four are shown: all 82 buckets of all histograms would make the
// page megabytes, and dashboards read orders of magnitude.
func (c *histogramCollector) Collect(ch chan<- prometheus.Metric) {
	shown := make(map[float64]uint64, histogramPowers/2)
	var count uint64
	for i := range c.h.buckets {
		count += c.h.buckets[i].Load()
		if i < histogramBuckets-1 && i%4 == 0 {
			shown[float64(bucketBound(i))*c.scale] = count
		}
	}
	metric, err := prometheus.NewConstHistogram(c.desc, count, float64(c.h.Sum())*c.scale, shown)
	if err != nil {
		metric = prometheus.NewInvalidMetric(c.desc, err)
	}
	ch <- metric
}
