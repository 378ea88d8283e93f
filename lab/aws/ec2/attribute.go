package ec2

import (
	"cmp"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type attributeInput struct {
	dry
	ID   string `query:"InstanceId"`
	Name string `query:"Attribute"`
}

// attributeOutput holds the requested attribute and no other.
type attributeOutput struct {
	ID         string           `xml:"instanceId"`
	Type       *text            `xml:"instanceType"`
	Kernel     *text            `xml:"kernel"`
	Ramdisk    *text            `xml:"ramdisk"`
	UserData   *text            `xml:"userData"`
	NoEnd      *boolean         `xml:"disableApiTermination"`
	NoStop     *boolean         `xml:"disableApiStop"`
	Shutdown   *text            `xml:"instanceInitiatedShutdownBehavior"`
	RootDevice *text            `xml:"rootDeviceName"`
	Devices    []instanceDevice `xml:"blockDeviceMapping>item"`
	Check      *boolean         `xml:"sourceDestCheck"`
	Groups     []groupRef       `xml:"groupSet>item"`
	Optimized  *boolean         `xml:"ebsOptimized"`
	Sriov      *text            `xml:"sriovNetSupport"`
	Enclave    *accounts.Toggle `xml:"enclaveOptions"`
}

// text is an attribute with a value; an unset attribute has an empty element.
type text struct {
	Value string `xml:"value,omitempty"`
}

func describeAttribute(r *accounts.Region, in *attributeInput) (*attributeOutput, error) {
	i, err := r.Instance(in.ID)
	if err != nil {
		return nil, err
	}
	item := itemOfInstance(r, i)
	out := &attributeOutput{ID: i.ID}
	switch in.Name {
	case "instanceType":
		out.Type = &text{item.Type}
	case "kernel":
		out.Kernel = &text{}
	case "ramdisk":
		out.Ramdisk = &text{}
	case "userData":
		out.UserData = &text{i.Spec.UserData}
	case "disableApiTermination":
		out.NoEnd = &boolean{i.Spec.KeepFromTheEnd != nil && *i.Spec.KeepFromTheEnd}
	case "disableApiStop":
		out.NoStop = &boolean{i.Spec.KeepFromTheStop != nil && *i.Spec.KeepFromTheStop}
	case "instanceInitiatedShutdownBehavior":
		out.Shutdown = &text{cmp.Or(i.Spec.ShutdownAction, "stop")}
	case "rootDeviceName":
		out.RootDevice = &text{item.RootDevice}
	case "blockDeviceMapping":
		out.Devices = item.Devices
	case "productCodes": // an instance of a plain image has no product codes
	case "sourceDestCheck":
		out.Check = &boolean{true}
	case "groupSet":
		out.Groups = item.Groups
	case "ebsOptimized":
		out.Optimized = &boolean{item.EBSOptimized}
	case "sriovNetSupport":
		out.Sriov = &text{"simple"}
	case "enclaveOptions":
		out.Enclave = &accounts.Toggle{Enabled: item.Enclave}
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid. Unknown attribute.", in.Name)
	}
	return out, nil
}
