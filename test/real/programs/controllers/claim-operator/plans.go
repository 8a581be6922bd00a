package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"
)

//go:embed rackplans.yaml
var planDefinition []byte

var planVersion = schema.GroupVersion{Group: "racks.ironstage.test", Version: "v1"}

const planFinalizer = "racks.ironstage.test/slots"

// RackPlan is a kind of this program's own: it installs the definition itself.
type RackPlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RackPlanSpec   `json:"spec"`
	Status            RackPlanStatus `json:"status,omitempty"`
}

type RackPlanSpec struct {
	Slots int    `json:"slots,omitempty"`
	Row   string `json:"row"`
}

type RackPlanStatus struct {
	Slots      int                `json:"slots"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type RackPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RackPlan `json:"items"`
}

func (p *RackPlan) DeepCopyObject() runtime.Object {
	made := *p
	p.ObjectMeta.DeepCopyInto(&made.ObjectMeta)
	made.Status.Conditions = append([]metav1.Condition(nil), p.Status.Conditions...)
	return &made
}

func (l *RackPlanList) DeepCopyObject() runtime.Object {
	made := *l
	made.Items = nil
	for each := range l.Items {
		made.Items = append(made.Items, *l.Items[each].DeepCopyObject().(*RackPlan))
	}
	return &made
}

func addPlans(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(planVersion, &RackPlan{}, &RackPlanList{})
	metav1.AddToGroupVersion(scheme, planVersion)
}

// installPlans applies the definition, and waits until it is served.
func installPlans(ctx context.Context, config *rest.Config) error {
	direct, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(planDefinition, &definition.Object); err != nil {
		return err
	}
	applied := client.ApplyConfigurationFromUnstructured(definition.DeepCopy())
	if err := direct.Apply(ctx, applied, client.FieldOwner("claim-operator"), client.ForceOwnership); err != nil {
		return err
	}
	for {
		if err := direct.Get(ctx, client.ObjectKeyFromObject(definition), definition); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
		for _, each := range conditions {
			if condition := each.(map[string]any); condition["type"] == "Established" && condition["status"] == "True" {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// planOperator makes a ConfigMap for each slot of a plan.
type planOperator struct {
	client.Client
	recorder record.EventRecorder
}

func (o *planOperator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	plan := &RackPlan{}
	if err := o.Get(ctx, request.NamespacedName, plan); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !plan.DeletionTimestamp.IsZero() {
		if !controllerutil.RemoveFinalizer(plan, planFinalizer) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, o.Update(ctx, plan)
	}
	if controllerutil.AddFinalizer(plan, planFinalizer) {
		return ctrl.Result{}, o.Update(ctx, plan)
	}
	for slot := range plan.Spec.Slots {
		name := fmt.Sprintf("%s-%d", plan.Name, slot)
		made := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: plan.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, o.Client, made, func() error {
			made.Data = map[string]string{"row": plan.Spec.Row}
			return controllerutil.SetControllerReference(plan, made, o.Scheme())
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	before := plan.DeepCopyObject().(*RackPlan)
	plan.Status.Slots = plan.Spec.Slots
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Planned", ObservedGeneration: plan.Generation}
	if !meta.SetStatusCondition(&plan.Status.Conditions, ready) {
		return ctrl.Result{}, nil
	}
	o.recorder.Eventf(plan, core.EventTypeNormal, "Planned", "planned %d slots", plan.Spec.Slots)
	return ctrl.Result{}, o.Status().Patch(ctx, plan, client.MergeFrom(before))
}
