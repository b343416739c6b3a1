// tests/real/oracle/main.go - Go's answers about quantities, selectors, versions, times and merge patches.
//
// Reads one case per line (JSON) and answers with one line each, in order. tests/real/test_oracle.c asks
// and compares. It is only ever an oracle: nothing of it is in the product.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"gopkg.in/inf.v0"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// A case: which question, and its arguments (each question uses some of them).
type question struct {
	Op     string            `json:"op"`
	A      string            `json:"a"`
	B      string            `json:"b"`
	Set    map[string]string `json:"set"`
	Object json.RawMessage   `json:"object"`
	Patch  json.RawMessage   `json:"patch"`
}

type answer struct {
	OK     bool            `json:"ok"`
	Error  string          `json:"error,omitempty"`
	Text   string          `json:"text"`
	Order  int             `json:"order"`
	Value  string          `json:"value,omitempty"` // "": does not fit into an int64
	Milli  string          `json:"milli,omitempty"`
	Match  bool            `json:"match"`
	Empty  bool            `json:"empty"`
	Micros int64           `json:"micros"`
	Result json.RawMessage `json:"result,omitempty"`
}

var answers = map[string]func(*question) (answer, error){
	"rv":            rv,
	"quantity":      quantity,
	"labels":        labelText,
	"fields":        fieldText,
	"labelselector": labelObject,
	"time":          seconds,
	"microtime":     micros,
	"httptime":      httpTime,
	"merge":         merge,
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			fmt.Fprintln(os.Stderr, "not a case:", err)
			os.Exit(1)
		}
		a, err := answers[q.Op](&q)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		a.OK = err == nil
		text, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
}

func rv(q *question) (answer, error) {
	order, err := resourceversion.CompareResourceVersion(q.A, q.B)
	return answer{Order: order}, err
}

func quantity(q *question) (answer, error) {
	a, err := resource.ParseQuantity(q.A)
	if err != nil {
		return answer{}, err
	}
	result := answer{Text: a.String(), Value: scaled(a, 0), Milli: scaled(a, 3)}
	if b, err := resource.ParseQuantity(q.B); err == nil {
		result.Order = a.Cmp(b)
	}
	return result, nil
}

// "" when it does not fit (Value() would wrap round or answer 0). A negative big decimal is off by up to
// two in Go, against its own documentation ("away from 0"), so the documented number is computed here.
func scaled(q resource.Quantity, scale inf.Scale) string {
	value := q.ScaledValue(resource.Scale(-scale))
	exact := new(inf.Dec).Round(q.AsDec(), scale, inf.RoundUp).UnscaledBig()
	if !exact.IsInt64() {
		return ""
	}
	if q.Sign() < 0 {
		value = exact.Int64()
	}
	return strconv.FormatInt(value, 10)
}

func labelText(q *question) (answer, error) {
	s, err := labels.Parse(q.A)
	if err != nil {
		return answer{}, err
	}
	return answer{Text: s.String(), Match: s.Matches(labels.Set(q.Set)), Empty: s.Empty()}, nil
}

func fieldText(q *question) (answer, error) {
	s, err := fields.ParseSelector(q.A)
	if err != nil {
		return answer{}, err
	}
	return answer{Text: s.String(), Match: s.Matches(fields.Set(q.Set)), Empty: s.Empty()}, nil
}

func labelObject(q *question) (answer, error) {
	var object *metav1.LabelSelector
	if err := json.Unmarshal(q.Object, &object); err != nil {
		return answer{}, err
	}
	s, err := metav1.LabelSelectorAsSelector(object)
	if err != nil {
		return answer{}, err
	}
	return answer{Text: s.String(), Match: s.Matches(labels.Set(q.Set)), Empty: s.Empty()}, nil
}

func seconds(q *question) (answer, error) {
	var t metav1.Time
	if err := t.UnmarshalJSON(quoted(q.A)); err != nil {
		return answer{}, err
	}
	return answer{Micros: t.UnixMicro(), Text: t.UTC().Format(time.RFC3339)}, nil
}

func micros(q *question) (answer, error) {
	var t metav1.MicroTime
	if err := t.UnmarshalJSON(quoted(q.A)); err != nil {
		return answer{}, err
	}
	return answer{Micros: t.UnixMicro(), Text: t.UTC().Format(metav1.RFC3339Micro)}, nil
}

func httpTime(q *question) (answer, error) {
	t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", q.A)
	if err != nil {
		return answer{}, err
	}
	return answer{Micros: t.UnixMicro()}, nil
}

func merge(q *question) (answer, error) {
	result, err := jsonpatch.MergePatch(q.Object, q.Patch)
	return answer{Result: result}, err
}

func quoted(text string) []byte {
	bytes, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return bytes
}
