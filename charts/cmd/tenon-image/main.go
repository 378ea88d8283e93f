// Command tenon-image makes the image of the controller out of programs that were built before. It
// also lists what they are made of, and writes checksums: see make image.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tenon/charts/image"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("out", "", "folder to write to; it must not be there yet")
	version := flag.String("version", "", "version of the release")
	commit := flag.String("commit", "", "commit that it was built from")
	date := flag.String("date", "", "time of the commit, as in 2026-01-02T15:04:05Z")
	flag.Parse()
	at, err := time.Parse(time.RFC3339, *date)
	if err != nil {
		return fmt.Errorf("read -date: %w", err)
	}
	if *out == "" || *version == "" || flag.NArg() == 0 {
		return fmt.Errorf("want -out, -version, and programs as bin/tenon-linux-ARCHITECTURE")
	}
	if err := os.Mkdir(*out, 0o755); err != nil {
		return err
	}
	release := image.Release{Version: *version, Commit: *commit, Time: at}
	var published []string
	for _, path := range flag.Args() {
		name := filepath.Base(path)
		release.Programs = append(release.Programs, image.Program{Architecture: name[strings.LastIndexByte(name, '-')+1:], Path: path})
		bill, err := image.SBOM(release, path)
		if err != nil {
			return err
		}
		file := filepath.Join(*out, name+".spdx.json")
		if err := os.WriteFile(file, bill, 0o644); err != nil {
			return err
		}
		published = append(published, path, file)
	}
	digest, err := image.Write(filepath.Join(*out, "image"), release)
	if err != nil {
		return err
	}
	sums, err := image.Checksums(published...)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*out, "SHA256SUMS"), []byte(sums), 0o644); err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}
