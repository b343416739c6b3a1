package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/linode/linodego"
)

// The SDK reads these by code of its own, so that no tag of its structs names them.
var readByCode = []string{"created", "updated", "last_successful"}

// compareMembers compares what an answer has with what the SDK's type has.
func (a *answer) compareMembers(text string, shape any) {
	if shape == nil {
		return
	}
	var parsed any
	check(json.Unmarshal([]byte(text), &parsed))
	if page, ok := parsed.(map[string]any); ok {
		if data, isPage := page["data"]; isPage {
			parsed = data
		}
	}
	a.compare("", parsed, reflect.TypeOf(shape))
}

func (a *answer) compare(where string, value any, shape reflect.Type) {
	for shape.Kind() == reflect.Pointer || shape.Kind() == reflect.Slice {
		shape = shape.Elem()
	}
	if list, ok := value.([]any); ok {
		for _, one := range list {
			a.compare(where, one, shape)
		}
		return
	}
	members, ok := value.(map[string]any)
	if !ok || shape.Kind() != reflect.Struct {
		return
	}
	fields := map[string]reflect.Type{}
	for i := range shape.NumField() {
		if name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = shape.Field(i).Type
		}
	}
	for name, member := range members {
		if field, known := fields[name]; known {
			a.compare(where+name+".", member, field)
		} else if !slices.Contains(readByCode, name) && !slices.Contains(a.Unknown, where+name) {
			a.Unknown = append(a.Unknown, where+name)
		}
	}
	for name := range fields {
		if _, has := members[name]; !has && !slices.Contains(a.Absent, where+name) {
			a.Absent = append(a.Absent, where+name)
		}
	}
}

// A value for the answer: the times that the SDK's types leave out are added.
func shown(value any) any {
	switch v := value.(type) {
	case *linodego.Instance:
		return withTime(v)
	case []linodego.Instance:
		all := []any{}
		for i := range v {
			all = append(all, withTime(&v[i]))
		}
		return all
	}
	return value
}

func withTime(i *linodego.Instance) any {
	text, err := json.Marshal(i)
	check(err)
	var members map[string]any
	check(json.Unmarshal(text, &members))
	if i.Created != nil {
		members["created_us"] = i.Created.UnixMicro()
	}
	return members
}
