package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Decode fills a struct with the call's parameters. It refuses parameters that the struct does not name.
func (c *Call) Decode(in any) error {
	if c.form != nil {
		if err := c.form.decode(reflect.ValueOf(in).Elem(), ""); err != nil {
			return err
		}
		if name := c.form.unused(""); name != "" {
			return Errorf("UnknownParameter", "The parameter %s is not recognized: the emulator does not model it for %s.", name, c.Operation)
		}
		return nil
	}
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return jsonError(err, c.Operation)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf("SerializationException", "The request has text after its end.")
	}
	return nil
}

func jsonError(err error, operation string) error {
	if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return Errorf("ValidationException", "The emulator does not model the parameter %s of %s.", field, operation)
	}
	return Errorf("SerializationException", "The request cannot be read: %s", err)
}
