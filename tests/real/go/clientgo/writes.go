package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"
)

const nobody = types.UID("00000000-0000-0000-0000-000000000000")

func text(o *unstructured.Unstructured, path ...string) string {
	found, _, err := unstructured.NestedString(o.Object, path...)
	must(err)
	return found
}

func number(o *unstructured.Unstructured, path ...string) int64 {
	found, _, err := unstructured.NestedInt64(o.Object, path...)
	must(err)
	return found
}

func patches(t *test) {
	t.createNodes(0, 1)
	node, err := t.patchNode(0, types.MergePatchType, `{"metadata":{"annotations":{"a":"1","b":"2"}}}`)
	must(err)
	node, err = t.patchNode(0, types.MergePatchType, `{"metadata":{"annotations":{"a":null}}}`)
	must(err)
	check(len(node.Annotations) == 1 && node.Annotations["b"] == "2", "after merge: %v", node.Annotations)

	test := `{"op":"test","path":"/metadata/annotations/b","value":"2"}`
	replace := `{"op":"replace","path":"/metadata/annotations/b","value":"3"}`
	node, err = t.patchNode(0, types.JSONPatchType, "["+test+","+replace+"]")
	must(err)
	check(node.Annotations["b"] == "3", "after JSON patch: %v", node.Annotations)
	_, err = t.patchNode(0, types.JSONPatchType, "["+test+"]")
	check(apierrors.IsInvalid(err), "a failed test: %v", err)

	// Conditions are merged by their type.
	now := metav1.Now()
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeDiskPressure} {
		conditions := []corev1.NodeCondition{{Type: kind, Status: corev1.ConditionTrue,
			Reason: "Because", LastHeartbeatTime: now, LastTransitionTime: now}}
		patch, err := json.Marshal(object{"status": object{"conditions": conditions}})
		must(err)
		node, err = t.patchNode(0, types.StrategicMergePatchType, string(patch), "status")
		must(err)
	}
	check(len(node.Status.Conditions) == 2, "after two strategic patches: %v", node.Status.Conditions)

	t.createWidget(0, object{"size": int64(1)})
	patch := []byte(`{"spec":{"size":2}}`)
	_, err = t.widgets().Patch(t.ctx, t.name(0), types.StrategicMergePatchType, patch, opts.patch)
	check(apierrors.IsUnsupportedMediaType(err), "a strategic patch of a custom resource: %v", err)
	_, err = t.widgets().Patch(t.ctx, t.name(99), types.MergePatchType, patch, opts.patch)
	check(apierrors.IsNotFound(err), "a patch of nothing: %v", err)
}

func patchConflict(t *test) {
	t.createNodes(0, 1)
	node, err := t.nodes().Get(t.ctx, t.name(0), opts.get)
	must(err)
	t.labelNode(0, "moved")
	old := fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"labels":{"a":"lost"}}}`, node.ResourceVersion)
	_, err = t.patchNode(0, types.MergePatchType, old)
	check(apierrors.IsConflict(err), "a patch of an old version: %v", err)
	_, err = t.patchNode(0, types.MergePatchType, fmt.Sprintf(`{"metadata":{"uid":%q}}`, nobody))
	check(apierrors.IsInvalid(err), "a patch of another uid: %v", err)
}

func updateConflict(t *test) {
	t.createNodes(0, 1)
	nodes := t.nodes()
	stale, err := nodes.Get(t.ctx, t.name(0), opts.get)
	must(err)
	t.labelNode(0, "moved")
	stale.Labels["value"] = "stale"
	_, err = nodes.Update(t.ctx, stale, opts.update)
	check(apierrors.IsConflict(err), "an update of an old version: %v", err)
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := nodes.Get(t.ctx, t.name(0), opts.get)
		must(err)
		fresh.Labels["value"] = "fresh"
		_, err = nodes.Update(t.ctx, fresh, opts.update)
		return err
	}))
	same, err := nodes.Get(t.ctx, t.name(0), opts.get)
	must(err)
	again, err := nodes.Update(t.ctx, same, opts.update)
	must(err)
	check(same.ResourceVersion == again.ResourceVersion, "an update without a change made a version")
}

func applyConflict(t *test) {
	apply := func(manager string, force bool, labels map[string]string) (*corev1.Node, error) {
		options := metav1.ApplyOptions{FieldManager: manager, Force: force}
		return t.nodes().Apply(t.ctx, coreapply.Node(t.name(0)).WithLabels(labels), options)
	}
	node, err := apply("one", false, t.labels("color", "red", "shape", "round"))
	must(err)
	version := node.ResourceVersion
	node, err = apply("one", false, t.labels("color", "red", "shape", "round"))
	must(err)
	check(node.ResourceVersion == version, "the same apply again made a version")

	blue := map[string]string{"color": "blue"}
	_, err = apply("two", false, blue)
	check(apierrors.IsConflict(err), "two managers of a field: %v", err)
	causes := err.(*apierrors.StatusError).ErrStatus.Details.Causes
	check(len(causes) == 1, "causes: %v", causes)
	check(causes[0].Type == metav1.CauseTypeFieldManagerConflict, "its type: %v", causes)
	check(causes[0].Field == ".metadata.labels.color", "the field: %v", causes)
	check(strings.Contains(causes[0].Message, `"one"`), "the manager: %v", causes)

	node, err = apply("two", true, blue)
	must(err)
	check(node.Labels["color"] == "blue", "forced: %v", node.Labels)
	// One no longer owns the color, and gives up the shape, which nobody else holds: it goes.
	node, err = apply("one", false, t.labels())
	must(err)
	check(maps.Equal(node.Labels, t.labels("color", "blue")), "pruned: %v", node.Labels)
	managers := map[string]metav1.ManagedFieldsOperationType{}
	for _, entry := range node.ManagedFields {
		managers[entry.Manager] = entry.Operation
	}
	for _, manager := range []string{"one", "two"} {
		check(managers[manager] == metav1.ManagedFieldsOperationApply, "managers: %v", managers)
	}
	// An update by somebody else takes a field over; an apply of it then conflicts.
	t.labelNode(0, "updated")
	_, err = apply("one", false, t.labels("value", "applied"))
	check(apierrors.IsConflict(err), "apply over an update: %v", err)
}

func applyWidget(t *test) {
	apply := func(manager string, spec object) *unstructured.Unstructured {
		options := metav1.ApplyOptions{FieldManager: manager}
		applied, err := t.widgets().Apply(t.ctx, t.name(0), t.widget(0, spec), options)
		must(err)
		return applied
	}
	applyStatus := func(manager string, conditions ...any) *unstructured.Unstructured {
		body := t.widget(0, nil)
		delete(body.Object, "spec")
		if len(conditions) > 0 {
			body.Object["status"] = object{"conditions": conditions}
		}
		options := metav1.ApplyOptions{FieldManager: manager}
		applied, err := t.widgets().ApplyStatus(t.ctx, t.name(0), body, options)
		must(err)
		return applied
	}
	one := apply("spec", object{"size": int64(1), "color": "red"})
	check(one.GetGeneration() == 1, "generation %d", one.GetGeneration())
	applyStatus("ready", object{"type": "Ready", "status": "True"})
	one = applyStatus("drain", object{"type": "Drained", "status": "False"})
	conditions, _, _ := unstructured.NestedSlice(one.Object, "status", "conditions")
	check(len(conditions) == 2, "conditions of two managers: %v", conditions)
	check(one.GetGeneration() == 1, "a status changed the generation to %d", one.GetGeneration())
	one = applyStatus("drain")
	conditions, _, _ = unstructured.NestedSlice(one.Object, "status", "conditions")
	check(len(conditions) == 1, "conditions after one manager gave up: %v", conditions)
	one = apply("spec", object{"size": int64(2)})
	color := text(one, "spec", "color")
	check(color == "" && one.GetGeneration() == 2, "color %q, generation %d", color, one.GetGeneration())
}

func widgetStatus(t *test) {
	same := func(o *unstructured.Unstructured, size, generation int64) {
		check(number(o, "spec", "size") == size, "size %d", number(o, "spec", "size"))
		check(text(o, "status", "phase") == "Ready", "phase %q", text(o, "status", "phase"))
		check(o.GetGeneration() == generation, "generation %d", o.GetGeneration())
	}
	body := t.widget(0, object{"size": int64(1)})
	body.Object["status"] = object{"phase": "ignored"}
	created, err := t.widgets().Create(t.ctx, body, opts.create)
	must(err)
	check(text(created, "status", "phase") == "", "a status at creation")
	must(unstructured.SetNestedField(created.Object, "Ready", "status", "phase"))
	must(unstructured.SetNestedField(created.Object, int64(7), "spec", "size"))
	updated, err := t.widgets().UpdateStatus(t.ctx, created, opts.update)
	must(err)
	same(updated, 1, 1)
	must(unstructured.SetNestedField(updated.Object, "Lost", "status", "phase"))
	must(unstructured.SetNestedField(updated.Object, int64(8), "spec", "size"))
	updated, err = t.widgets().Update(t.ctx, updated, opts.update)
	must(err)
	same(updated, 8, 2)
}

func errorReasons(t *test) {
	_, err := t.nodes().Get(t.ctx, t.name(0), opts.get)
	check(apierrors.IsNotFound(err), "get of nothing: %v", err)
	t.createNodes(0, 1)
	_, err = t.nodes().Create(t.ctx, t.node(0), opts.create)
	check(apierrors.IsAlreadyExists(err), "create twice: %v", err)
	bad := t.node(1)
	bad.Name = "Not A Name"
	_, err = t.nodes().Create(t.ctx, bad, opts.create)
	check(apierrors.IsInvalid(err), "a bad name: %v", err)
	wrong := t.widget(0, object{"size": int64(-1), "mode": "sideways"})
	_, err = t.widgets().Create(t.ctx, wrong, opts.create)
	check(apierrors.IsInvalid(err), "a bad spec: %v", err)
	causes := err.(*apierrors.StatusError).ErrStatus.Details.Causes
	fields := map[string]bool{}
	for _, cause := range causes {
		fields[cause.Field] = true
	}
	check(fields["spec.size"] && fields["spec.mode"], "causes: %v", causes)
	nowhere := "nowhere-" + t.mark
	elsewhere := t.widget(0, nil)
	elsewhere.SetNamespace(nowhere)
	_, err = t.dynamic.Resource(widgets).Namespace(nowhere).Create(t.ctx, elsewhere, opts.create)
	check(apierrors.IsNotFound(err), "no such namespace: %v", err)
	unknown := widgets
	unknown.Resource = "gadgets"
	_, err = t.dynamic.Resource(unknown).List(t.ctx, opts.list)
	check(apierrors.IsNotFound(err), "no such resource: %v", err)
}

func finalizers(t *test) {
	body := t.widget(0, object{"size": int64(1)})
	body.SetFinalizers([]string{"test.muster.dev/one", "test.muster.dev/two"})
	_, err := t.widgets().Create(t.ctx, body, opts.create)
	must(err)
	must(t.widgets().Delete(t.ctx, t.name(0), opts.delete))
	held, err := t.widgets().Get(t.ctx, t.name(0), opts.get)
	must(err)
	check(held.GetDeletionTimestamp() != nil && len(held.GetFinalizers()) == 2, "not held: %v", held)
	held.SetFinalizers(append(held.GetFinalizers(), "test.muster.dev/three"))
	_, err = t.widgets().Update(t.ctx, held, opts.update)
	check(apierrors.IsInvalid(err), "a finalizer added while going: %v", err)
	remove := func(index int, name string) (*unstructured.Unstructured, error) {
		path := fmt.Sprintf("/metadata/finalizers/%d", index)
		test := fmt.Sprintf(`{"op":"test","path":%q,"value":%q}`, path, name)
		patch := fmt.Sprintf(`[%s,{"op":"remove","path":%q}]`, test, path)
		return t.widgets().Patch(t.ctx, t.name(0), types.JSONPatchType, []byte(patch), opts.patch)
	}
	held, err = remove(0, "test.muster.dev/one")
	must(err)
	check(len(held.GetFinalizers()) == 1, "finalizers: %v", held.GetFinalizers())
	_, err = remove(0, "test.muster.dev/two")
	must(err)
	_, err = t.widgets().Get(t.ctx, t.name(0), opts.get)
	check(apierrors.IsNotFound(err), "still there: %v", err)
}

func deletePreconditions(t *test) {
	t.createNodes(0, 1)
	node, err := t.nodes().Get(t.ctx, t.name(0), opts.get)
	must(err)
	other := nobody
	err = t.nodes().Delete(t.ctx, t.name(0), onlyIf(&other, nil))
	check(apierrors.IsConflict(err), "another uid: %v", err)
	t.labelNode(0, "moved")
	err = t.nodes().Delete(t.ctx, t.name(0), onlyIf(nil, &node.ResourceVersion))
	check(apierrors.IsConflict(err), "an old version: %v", err)
	must(t.nodes().Delete(t.ctx, t.name(0), onlyIf(&node.UID, nil)))
	err = t.nodes().Delete(t.ctx, t.name(0), opts.delete)
	check(apierrors.IsNotFound(err), "twice: %v", err)
}

func deleteCollection(t *test) {
	t.createNodes(0, 10)
	t.labelNode(0, "kept")
	selector := metav1.ListOptions{LabelSelector: "run=" + t.mark + ",value!=kept"}
	must(t.nodes().DeleteCollection(t.ctx, opts.delete, selector))
	left, err := t.nodes().List(t.ctx, t.mine())
	must(err)
	check(len(left.Items) == 1 && left.Items[0].Name == t.name(0), "%d left", len(left.Items))
}

func eviction(t *test) {
	pods := t.typed.CoreV1().Pods(namespace)
	for n := 0; n < 2; n++ {
		_, err := pods.Create(t.ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: t.name(n), Labels: t.labels()},
			Spec: corev1.PodSpec{NodeName: map[int]string{1: "some-node"}[n],
				Containers: []corev1.Container{{Name: "c", Image: "nothing"}}},
		}, opts.create)
		must(err)
	}
	evict := func(name string, options *metav1.DeleteOptions) error {
		about := metav1.ObjectMeta{Name: name, Namespace: namespace}
		return pods.EvictV1(t.ctx, &policyv1.Eviction{ObjectMeta: about, DeleteOptions: options})
	}
	other := nobody
	precondition := onlyIf(&other, nil)
	err := evict(t.name(0), &precondition)
	check(apierrors.IsConflict(err), "another uid: %v", err)
	must(evict(t.name(0), nil))
	_, err = pods.Get(t.ctx, t.name(0), opts.get)
	check(apierrors.IsNotFound(err), "a pod without a node is gone at once: %v", err)
	// One on a node is only marked: its kubelet deletes it.
	must(evict(t.name(1), nil))
	pod, err := pods.Get(t.ctx, t.name(1), opts.get)
	must(err)
	grace := pod.DeletionGracePeriodSeconds
	check(pod.DeletionTimestamp != nil && grace != nil && *grace == 30, "not marked: %v", pod.ObjectMeta)
	now := int64(0)
	must(pods.Delete(t.ctx, t.name(1), metav1.DeleteOptions{GracePeriodSeconds: &now}))
	_, err = pods.Get(t.ctx, t.name(1), opts.get)
	check(apierrors.IsNotFound(err), "still there: %v", err)
	check(apierrors.IsNotFound(evict(t.name(2), nil)), "evicted nothing")
}
