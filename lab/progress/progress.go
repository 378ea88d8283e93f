// Package progress shows the progress of a lab's start: one line for each finished step, and on a terminal
// an animated line for the present step.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Style is how progress is shown.
type Style string

// Plain writes finished lines only, for files and pipes. Live redraws the current line, and Colour
// does so in colours.
const (
	Plain  Style = "plain"
	Live   Style = "live"
	Colour Style = "colour"
)

// Detect chooses a style: live on a terminal, in colours unless NO_COLOR is set (no-color.org).
func Detect(out *os.File) Style {
	if !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return Plain
	}
	if os.Getenv("NO_COLOR") != "" {
		return Live
	}
	return Colour
}

// Printer writes progress. It may be used from several goroutines.
type Printer struct {
	mu    sync.Mutex
	out   io.Writer
	style Style

	step  string // the present one, "" if none
	begun time.Time
	frame int
	quit  chan struct{}
}

// New makes a printer.
func New(out io.Writer, style Style) *Printer { return &Printer{out: out, style: style} }

// frames are drawn one after the other during a step.
var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// frameTime is how long each frame is shown.
const frameTime = 100 * time.Millisecond

// Begin starts a step. Steps do not overlap.
func (p *Printer) Begin(step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.begun = step, time.Now()
	if p.style == Plain {
		return
	}
	p.quit = make(chan struct{})
	p.draw()
	go p.animate(p.quit)
}

// End finishes the present step, with a remark about it.
func (p *Printer) End(remark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(p.paint("32", "✓"), remark)
}

// Fail marks the present step as failed. Without a step it does nothing.
func (p *Printer) Fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.step != "" {
		p.finish(p.paint("31", "✗"), "failed")
	}
}

func (p *Printer) finish(mark, remark string) {
	p.clear()
	if p.quit != nil {
		close(p.quit)
		p.quit = nil
	}
	p.printf("  %s %-24s %6s  %s\n", mark, p.step, seconds(time.Since(p.begun)), remark)
	p.step = ""
}

// Line writes a separate line above the present step.
func (p *Printer) Line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.printf("%s\n", text)
	p.draw()
}

// Redirect writes later output to out, in another style.
func (p *Printer) Redirect(out io.Writer, style Style) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.out, p.style = out, style
}

// Strong returns emphasised text, where the style allows it.
func (p *Printer) Strong(text string) string { return p.paint("1", text) }

func (p *Printer) paint(code, text string) string {
	if p.style != Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *Printer) animate(quit <-chan struct{}) {
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.frame++
			p.draw()
			p.mu.Unlock()
		}
	}
}

func (p *Printer) draw() {
	if p.style == Plain || p.step == "" {
		return
	}
	p.printf("\r  %s %-24s %6s", frames[p.frame%len(frames)], p.step, seconds(time.Since(p.begun)))
}

func (p *Printer) clear() {
	if p.style != Plain && p.step != "" {
		p.printf("\r\x1b[K")
	}
}

// printf ignores errors: progress that cannot be shown must not stop a lab.
func (p *Printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
