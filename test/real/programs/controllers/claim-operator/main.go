// A controller as kubebuilder makes them: leader election, informers, finalizers, owned objects, status and events.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	namespace = "metal3"
	finalizer = "claims.ironstage.test/secret"
)

var claimKind = schema.GroupVersionKind{Group: "metal3.io", Version: "v1alpha1", Kind: "HostClaim"}

// claimOperator makes a Secret for each claim, and says so in its status and in events of both recorders.
type claimOperator struct {
	client.Client
	recorder    record.EventRecorder
	newRecorder events.EventRecorder
}

func (o *claimOperator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	claim := &unstructured.Unstructured{}
	claim.SetGroupVersionKind(claimKind)
	if err := o.Get(ctx, request.NamespacedName, claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !claim.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, o.finish(ctx, claim)
	}
	if controllerutil.AddFinalizer(claim, finalizer) {
		return ctrl.Result{}, o.Update(ctx, claim)
	}
	secret := &core.Secret{ObjectMeta: metav1.ObjectMeta{Name: claim.GetName(), Namespace: namespace}}
	made, err := controllerutil.CreateOrUpdate(ctx, o.Client, secret, func() error {
		secret.Data = map[string][]byte{"claim": []byte(claim.GetName())}
		return controllerutil.SetControllerReference(claim, secret, o.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if made == controllerutil.OperationResultCreated {
		o.recorder.Eventf(claim, core.EventTypeNormal, "SecretMade", "made the secret %s", secret.Name)
		o.newRecorder.Eventf(claim, secret, core.EventTypeNormal, "SecretMade", "Making", "made the secret %s", secret.Name)
	}
	return ctrl.Result{}, o.say(ctx, claim)
}

// finish deletes the Secret itself, since a finalizer has to be done before its claim goes.
func (o *claimOperator) finish(ctx context.Context, claim *unstructured.Unstructured) error {
	secret := &core.Secret{ObjectMeta: metav1.ObjectMeta{Name: claim.GetName(), Namespace: namespace}}
	if err := client.IgnoreNotFound(o.Delete(ctx, secret)); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(claim, finalizer) {
		return nil
	}
	return o.Update(ctx, claim)
}

func (o *claimOperator) say(ctx context.Context, claim *unstructured.Unstructured) error {
	conditions := []metav1.Condition{}
	found, _, err := unstructured.NestedSlice(claim.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, each := range found {
		member := each.(map[string]any)
		conditions = append(conditions, metav1.Condition{Type: member["type"].(string), Status: metav1.ConditionStatus(member["status"].(string))})
	}
	if meta.IsStatusConditionTrue(conditions, "Ready") {
		return nil
	}
	ready := map[string]any{
		"type":               "Ready",
		"status":             "True",
		"reason":             "SecretMade",
		"message":            "",
		"observedGeneration": claim.GetGeneration(),
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	if err := unstructured.SetNestedSlice(claim.Object, []any{ready}, "status", "conditions"); err != nil {
		return err
	}
	return o.Status().Update(ctx, claim)
}

func run() error {
	ctrl.SetLogger(zap.New())
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	signals := ctrl.SetupSignalHandler()
	if err := installPlans(signals, config); err != nil {
		return err
	}
	// A killed leader is followed within seconds.
	lease, renew, retry := 3*time.Second, 2*time.Second, 500*time.Millisecond
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:          true,
		LeaderElectionID:        "claim-operator",
		LeaderElectionNamespace: namespace,
		LeaseDuration:           &lease,
		RenewDeadline:           &renew,
		RetryPeriod:             &retry,
		Metrics:                 metrics.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	})
	if err != nil {
		return err
	}
	addPlans(manager.GetScheme())
	plans := &planOperator{
		Client:   manager.GetClient(),
		recorder: manager.GetEventRecorderFor("plan-operator"), //nolint:staticcheck // BareMetal Operator uses it.
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&RackPlan{}).Owns(&core.ConfigMap{}).Complete(plans); err != nil {
		return err
	}
	operator := &claimOperator{
		Client:      manager.GetClient(),
		recorder:    manager.GetEventRecorderFor("claim-operator"), //nolint:staticcheck // BareMetal Operator uses it.
		newRecorder: manager.GetEventRecorder("claim-operator"),
	}
	claim := &unstructured.Unstructured{}
	claim.SetGroupVersionKind(claimKind)
	if err := ctrl.NewControllerManagedBy(manager).For(claim).Owns(&core.Secret{}).Complete(operator); err != nil {
		return err
	}
	return manager.Start(signals)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
