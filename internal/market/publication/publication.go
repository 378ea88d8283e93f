// Package publication is the market as a controller writes it to its cluster: what each node class sells
// now, at which price and whether it is out of stock, for plans and pages that are made elsewhere. With it are the
// controller's settings on which plans depend.
//
//	controller ──Encode──▶ ConfigMap tenon-market ──Read──▶ tenon plan, explain, view, dashboard
//
// It must not judge what is sold, and applies no overlay: a reader does that with the overlays that it sees.
package publication

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Publication is the market at one moment.
type Publication struct {
	// At is when it was written; it is no part of the text.
	At time.Time
	// Catalogs are what the classes sell.
	Catalogs map[cloud.ClassRef]*catalog.Catalog
	// Withheld are classes for which there was no room.
	Withheld []cloud.ClassRef
	// Closed says of pools for which nothing is bought now why that is so.
	Closed map[string]string
	// Settings are those of the controller on which plans depend, by flag, where they are not the defaults.
	Settings map[string]string
}

// What a publication says of itself.
const (
	format  = "tenon/market"
	version = 1
)

// line is one line of the text; one of its parts is set. Types and lists of offerings come before the
// first class that has them, and are counted from 0.
type line struct {
	Head      *head              `json:"head,omitempty"`
	Type      *catalog.Type      `json:"type,omitempty"` // without offerings
	Offerings []catalog.Offering `json:"offerings,omitempty"`
	Class     *class             `json:"class,omitempty"`
}

type head struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Closed   map[string]string `json:"closed,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Withheld []cloud.ClassRef  `json:"withheld,omitempty"`
}

// class sells, for each pair, the type of the first number by the offerings of the second; -1 is none.
type class struct {
	Ref   cloud.ClassRef `json:"ref"`
	Sells [][2]int       `json:"sells"`
}

// Encode writes it, compressed, in as many bytes as are given at most: classes that do not fit are
// withheld, the last by name first. Equal markets give the same bytes.
func (p *Publication) Encode(most int) ([]byte, error) {
	refs := make([]cloud.ClassRef, 0, len(p.Catalogs))
	for ref := range p.Catalogs {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b cloud.ClassRef) int { return strings.Compare(a.String(), b.String()) })
	var body bytes.Buffer
	e := encoder{types: map[digest]int{}, offerings: map[digest]int{}}
	h := head{Format: format, Version: version, Closed: p.Closed, Settings: p.Settings}
	for _, ref := range refs {
		if len(h.Withheld) > 0 {
			h.Withheld = append(h.Withheld, ref)
			continue
		}
		text, err := e.class(ref, p.Catalogs[ref])
		if err != nil {
			return nil, fmt.Errorf("write what %s sells: %w", ref, err)
		}
		if body.Len()+len(text) > most {
			h.Withheld = append(h.Withheld, ref)
			continue
		}
		body.Write(text)
	}
	first, err := zipped(func(w io.Writer) error { return put(w, line{Head: &h}) })
	return append(first, body.Bytes()...), err
}

type digest [sha256.Size]byte

// encoder knows what was written already.
type encoder struct{ types, offerings map[digest]int }

// class is a class with what is new about it.
func (e *encoder) class(ref cloud.ClassRef, sells *catalog.Catalog) ([]byte, error) {
	return zipped(func(w io.Writer) error {
		out := class{Ref: ref, Sells: make([][2]int, 0, len(sells.Types))}
		for i := range sells.Types {
			t := sells.Types[i]
			offers := t.Offerings
			t.Offerings = nil
			kind, err := once(w, e.types, line{Type: &t})
			if err != nil {
				return err
			}
			by := -1
			if len(offers) > 0 {
				if by, err = once(w, e.offerings, line{Offerings: offers}); err != nil {
					return err
				}
			}
			out.Sells = append(out.Sells, [2]int{kind, by})
		}
		return put(w, line{Class: &out})
	})
}

// once writes a line unless it is known, and returns its number.
func once(w io.Writer, known map[digest]int, l line) (int, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	name := digest(sha256.Sum256(text))
	if at, is := known[name]; is {
		return at, nil
	}
	known[name] = len(known)
	_, err = w.Write(append(text, '\n'))
	return known[name], err
}

func put(w io.Writer, l line) error { return json.NewEncoder(w).Encode(l) }

// zipped is one member of a compressed file: members one after the other are a file too.
func zipped(write func(io.Writer) error) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	err := errors.Join(write(w), w.Close())
	return out.Bytes(), err
}

// mostText bounds what a text may be unpacked to: a hundred times of what is stored.
const mostText = 100 * Most

// Decode reads what Encode wrote.
func Decode(text []byte) (*Publication, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the published market: %w", err)
	}
	lines := json.NewDecoder(bufio.NewReader(io.LimitReader(unzipped, mostText)))
	out := &Publication{Catalogs: map[cloud.ClassRef]*catalog.Catalog{}}
	d := decoder{out: out}
	for {
		var l line
		switch err := lines.Decode(&l); {
		case errors.Is(err, io.EOF) && d.begun:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read the published market: %w", err)
		}
		if err := d.line(&l); err != nil {
			return nil, fmt.Errorf("read the published market: %w", err)
		}
	}
}

type decoder struct {
	out       *Publication
	begun     bool
	types     []catalog.Type
	offerings [][]catalog.Offering
}

func (d *decoder) line(l *line) error {
	switch {
	case l.Head != nil:
		d.begun, d.out.Closed, d.out.Withheld, d.out.Settings = true, l.Head.Closed, l.Head.Withheld, l.Head.Settings
		if l.Head.Format != format {
			return fmt.Errorf("its format is %q, want %q", l.Head.Format, format)
		}
		if l.Head.Version > version {
			return fmt.Errorf("version %d is newer than this program, which reads up to %d", l.Head.Version, version)
		}
	case !d.begun:
		return errors.New("it does not begin as one")
	case l.Type != nil:
		d.types = append(d.types, *l.Type)
	case l.Offerings != nil:
		d.offerings = append(d.offerings, l.Offerings)
	case l.Class != nil:
		return d.class(l.Class)
	}
	return nil
}

func (d *decoder) class(c *class) error {
	sells := &catalog.Catalog{Types: make([]catalog.Type, 0, len(c.Sells))}
	for _, pair := range c.Sells {
		kind, by := pair[0], pair[1]
		if kind < 0 || kind >= len(d.types) || by < -1 || by >= len(d.offerings) {
			return fmt.Errorf("%s sells what was not described", c.Ref)
		}
		t := d.types[kind]
		if by >= 0 {
			t.Offerings = d.offerings[by]
		}
		sells.Types = append(sells.Types, t)
	}
	d.out.Catalogs[c.Ref] = sells
	return nil
}

// Region is that of the machines; empty if their labels do not tell of one.
func (p *Publication) Region() string {
	for _, sells := range p.Catalogs {
		for i := range sells.Types {
			if regions := sells.Types[i].Requirements.Get(requirement.KeyRegion).Values(); len(regions) == 1 {
				return regions[0]
			}
		}
	}
	return ""
}
