// Command linodego makes the calls of lke-claimer with the official SDK of the Linode API.
//
//	linodego -url URL -version v4beta -token-file FILE <requests >answers
//
// A request is a line as muster-test-linode prints it: {"call", "method", "path", "filter", "body"}, and
// "page_size" for pages smaller than the ones in the path. For each there is one line of an answer: what
// was sent and what came back as bytes, what the SDK made of it, and where the bytes and the SDK's types
// differ in the members that they have.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/linode/linodego"
)

type request struct {
	Call     string `json:"call"`
	Method   string `json:"method"`
	Path     string `json:"path"`
	Filter   string `json:"filter"`
	Body     string `json:"body"`
	PageSize int    `json:"page_size"`
}

// An exchange is one HTTP request and its answer; a list has one for each page.
type exchange struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Filter string `json:"filter"`
	Body   string `json:"body"`
	Status int    `json:"status"`
	Answer string `json:"answer"`
}

type answer struct {
	Call      string     `json:"call"`
	Exchanges []exchange `json:"exchanges"`
	Value     any        `json:"value"`
	// Error is what the SDK returned instead of a value; Code is 0 when it is not an error of the API.
	Error string `json:"error,omitempty"`
	Code  int    `json:"code,omitempty"`
	// Unknown are members of the answer that the SDK's type does not have, Absent those of the type that
	// the answer does not have.
	Unknown []string `json:"unknown"`
	Absent  []string `json:"absent"`
}

// A recorder is the transport of the SDK; it keeps the bytes of every exchange.
type recorder struct {
	exchanges []exchange
}

func (r *recorder) RoundTrip(asked *http.Request) (*http.Response, error) {
	var sent, received []byte
	var err error
	if asked.Body != nil {
		if sent, err = io.ReadAll(asked.Body); err != nil {
			return nil, err
		}
		asked.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := http.DefaultTransport.RoundTrip(asked)
	if err != nil {
		return nil, err
	}
	received, err = io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(received))
	r.exchanges = append(r.exchanges, exchange{
		Method: asked.Method, Path: asked.URL.RequestURI(), Filter: asked.Header.Get("X-Filter"),
		Body: string(sent), Status: response.StatusCode, Answer: string(received)})
	return response, nil
}

// A job is a request with what is needed to make it.
type job struct {
	*request
	client *linodego.Client
	path   []string // the parts of the path
}

func (j *job) id(part int) int { return number(j.path[part]) }

// The callers make the call with the SDK. The second value has the type of what it reads: of the value, or
// of an element of a list; nil for a call without an answer.
var callers = map[string]func(context.Context, *job) (any, any, error){
	"clusters": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.ListLKEClusters(ctx, j.listOptions())
		return v, linodego.LKECluster{}, err
	},
	"pools": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.ListLKENodePools(ctx, j.id(2), j.listOptions())
		return v, linodego.LKENodePool{}, err
	},
	"instances": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.ListInstances(ctx, j.listOptions())
		return v, linodego.Instance{}, err
	},
	"types": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.ListTypes(ctx, j.listOptions())
		return v, linodego.LinodeType{}, err
	},
	"cluster": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.GetLKECluster(ctx, j.id(2))
		return v, linodego.LKECluster{}, err
	},
	"availability": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.GetRegionAvailability(ctx, j.path[1])
		return v, linodego.RegionAvailability{}, err
	},
	"create-pool": func(ctx context.Context, j *job) (any, any, error) {
		options := bodyOf[linodego.LKENodePoolCreateOptions](j)
		v, err := j.client.CreateLKENodePool(ctx, j.id(2), options)
		return v, linodego.LKENodePool{}, err
	},
	"scale-pool": func(ctx context.Context, j *job) (any, any, error) {
		options := bodyOf[linodego.LKENodePoolUpdateOptions](j)
		v, err := j.client.UpdateLKENodePool(ctx, j.id(2), j.id(4), options)
		return v, linodego.LKENodePool{}, err
	},
	"delete-pool": func(ctx context.Context, j *job) (any, any, error) {
		return nil, nil, j.client.DeleteLKENodePool(ctx, j.id(2), j.id(4))
	},
	"delete-node": func(ctx context.Context, j *job) (any, any, error) {
		return nil, nil, j.client.DeleteLKENodePoolNode(ctx, j.id(2), j.path[4])
	},
	"tag-instance": func(ctx context.Context, j *job) (any, any, error) {
		v, err := j.client.UpdateInstance(ctx, j.id(2), bodyOf[linodego.InstanceUpdateOptions](j))
		return v, linodego.Instance{}, err
	},
}

func main() {
	address := flag.String("url", "", "the API, without the version")
	version := flag.String("version", "v4beta", "of the API")
	tokenFile := flag.String("token-file", "", "has the token")
	flag.Parse()
	token, err := os.ReadFile(*tokenFile)
	check(err)
	wire := &recorder{}
	client := linodego.NewClient(&http.Client{Transport: wire})
	client.SetBaseURL(*address)
	client.SetAPIVersion(*version)
	client.SetToken(strings.TrimSpace(string(token)))
	// An error is an answer here. A second list of the types is another call, not the first one again.
	client.SetRetryCount(0)
	client.UseCache(false)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r request
		check(json.Unmarshal(lines.Bytes(), &r))
		wire.exchanges = nil
		out, err := json.Marshal(perform(&client, wire, &r))
		check(err)
		fmt.Println(string(out))
	}
	check(lines.Err())
}

func perform(client *linodego.Client, wire *recorder, r *request) *answer {
	call, known := callers[r.Call]
	if !known {
		check(fmt.Errorf("no call of the SDK for %q", r.Call))
	}
	path, err := url.Parse(r.Path)
	check(err)
	parts := strings.Split(strings.Trim(path.Path, "/"), "/")
	value, shape, err := call(context.Background(), &job{request: r, client: client, path: parts})
	a := &answer{Call: r.Call, Exchanges: wire.exchanges, Unknown: []string{}, Absent: []string{}}
	if err != nil {
		a.Error = err.Error()
		var ofAPI *linodego.Error
		if errors.As(err, &ofAPI) && ofAPI.Response != nil {
			a.Code, a.Error = ofAPI.Code, ofAPI.Message
		}
		return a
	}
	a.Value = shown(value)
	for _, e := range wire.exchanges {
		a.compareMembers(e.Answer, shape)
	}
	return a
}

// The pages are read one after the other, as the SDK does.
func (r *request) listOptions() *linodego.ListOptions {
	options := &linodego.ListOptions{PageOptions: &linodego.PageOptions{}, Filter: r.Filter,
		PageSize: r.PageSize}
	if r.PageSize == 0 {
		path, err := url.Parse(r.Path)
		check(err)
		options.PageSize = number(path.Query().Get("page_size"))
		options.Page = number(path.Query().Get("page"))
	}
	return options
}

// The body of our request, which must have no member that the SDK's options do not have.
func bodyOf[T any](j *job) (options T) {
	decoder := json.NewDecoder(strings.NewReader(j.Body))
	decoder.DisallowUnknownFields()
	check(decoder.Decode(&options))
	return options
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "linodego:", err)
		os.Exit(1)
	}
}
