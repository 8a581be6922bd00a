package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/stmcginnis/gofish/schemas"
)

type entity interface{ GetODataID() string }

// Walk is what gofish reaches from an object, each resource once.
type Walk struct {
	Kinds  []string          `json:"kinds"`
	Errors map[string]string `json:"errors"`
	known  map[string]struct{}
}

var (
	errorType  = reflect.TypeOf((*error)(nil)).Elem()
	entityType = reflect.TypeOf((*entity)(nil)).Elem()
	taskType   = reflect.TypeOf((*schemas.TaskMonitorInfo)(nil))
)

// A method that reads: it needs nothing, and returns a resource or resources, and an error. Actions return a task.
func reads(method reflect.Type) bool {
	needs := method.NumIn()
	if method.IsVariadic() {
		needs--
	}
	if needs != 0 || method.NumOut() != 2 || method.Out(1) != errorType {
		return false
	}
	result := method.Out(0)
	if result.Kind() == reflect.Slice {
		result = result.Elem()
	}
	return result.Kind() == reflect.Pointer && result != taskType && result.Implements(entityType)
}

func (walk *Walk) visit(value reflect.Value) {
	if value.Kind() == reflect.Slice {
		for index := 0; index < value.Len(); index++ {
			walk.visit(value.Index(index))
		}
		return
	}
	if value.IsNil() {
		return
	}
	kind := value.Type().Elem().Name()
	key := kind + " " + value.Interface().(entity).GetODataID()
	if _, known := walk.known[key]; known {
		return
	}
	walk.known[key] = struct{}{}
	for index := 0; index < value.NumMethod(); index++ {
		method := value.Method(index)
		if !reads(method.Type()) {
			continue
		}
		results := method.Call(nil)
		if failure := results[1]; !failure.IsNil() {
			walk.Errors[kind+"."+value.Type().Method(index).Name] = fmt.Sprintf("%.200s", failure.Interface())
			continue
		}
		walk.visit(results[0])
	}
}

func walkAll(bmcs map[string]string) map[string]*Walk {
	seen := map[string]*Walk{}
	for name, url := range bmcs {
		walk := &Walk{Errors: map[string]string{}, known: map[string]struct{}{}}
		client := must(connect(url))
		walk.visit(reflect.ValueOf(client.GetService()))
		kinds := map[string]struct{}{}
		for key := range walk.known {
			kinds[strings.Split(key, " ")[0]] = struct{}{}
		}
		for kind := range kinds {
			walk.Kinds = append(walk.Kinds, kind)
		}
		sort.Strings(walk.Kinds)
		seen[name] = walk
	}
	return seen
}
