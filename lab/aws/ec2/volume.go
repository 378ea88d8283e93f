package ec2

import (
	"strconv"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type volumesInput struct {
	listing
	IDs                     []string `query:"VolumeId"`
	IncludeManagedResources bool
}

type volumesOutput struct {
	Volumes []volumeItem `xml:"volumeSet>item"`
	Next    string       `xml:"nextToken,omitempty"`
}

type volumeItem struct {
	ID          string             `xml:"volumeId"`
	Size        int                `xml:"size"`
	Snapshot    string             `xml:"snapshotId"`
	Zone        string             `xml:"availabilityZone"`
	ZoneID      string             `xml:"availabilityZoneId"`
	Status      string             `xml:"status"`
	Created     string             `xml:"createTime"`
	Type        string             `xml:"volumeType"`
	IOPS        int                `xml:"iops,omitempty"`
	Throughput  int                `xml:"throughput,omitempty"`
	Encrypted   bool               `xml:"encrypted"`
	Several     bool               `xml:"multiAttachEnabled"`
	Attachments []volumeAttachment `xml:"attachmentSet>item"`
	Tags        []wire.Tag         `xml:"tagSet>item"`
}

type volumeAttachment struct {
	Volume   string `xml:"volumeId"`
	Instance string `xml:"instanceId"`
	Device   string `xml:"device"`
	Status   string `xml:"status"`
	Since    string `xml:"attachTime"`
	Goes     bool   `xml:"deleteOnTermination"`
}

func describeVolumes(r *accounts.Region, in *volumesInput) (*volumesOutput, error) {
	if err := whole(in.listing, in.IDs, "volumeIds"); err != nil {
		return nil, err
	}
	all, err := pick(in.IDs, r.Volumes(), r.Volume)
	if err != nil {
		return nil, err
	}
	found, next, err := list(in.listing, all, listed[*accounts.Volume]{
		key:        func(v *accounts.Volume) string { return v.ID },
		attributes: func(v *accounts.Volume) (wire.Attributes, []wire.Tag) { return volumeAttributes(v), v.Tags },
		limits:     wire.Limits{Min: 5, Max: 1000},
	})
	out := &volumesOutput{Next: next}
	for _, v := range found {
		out.Volumes = append(out.Volumes, itemOfVolume(v))
	}
	return out, err
}

func itemOfVolume(v *accounts.Volume) volumeItem {
	item := volumeItem{
		ID: v.ID, Size: v.SizeGiB, Snapshot: v.Snapshot, Zone: v.Zone.Name, ZoneID: v.Zone.ID, Status: "available", Created: stamp(v.Created),
		Type: v.Type, IOPS: v.IOPS, Throughput: v.Throughput, Encrypted: v.Encrypted, Tags: v.Tags,
	}
	if v.Instance != nil {
		item.Status = "in-use"
		item.Attachments = []volumeAttachment{{v.ID, v.Instance.ID, v.Device, "attached", stamp(v.Instance.Launched), !v.Keep}}
	}
	return item
}

func volumeAttributes(v *accounts.Volume) wire.Attributes {
	item := itemOfVolume(v)
	a := wire.Attributes{
		"volume-id": one(v.ID), "volume-type": one(v.Type), "size": one(strconv.Itoa(v.SizeGiB)), "status": one(item.Status), "encrypted": truth(v.Encrypted),
		"snapshot-id": one(v.Snapshot), "availability-zone": one(v.Zone.Name), "availability-zone-id": one(v.Zone.ID), "create-time": one(item.Created),
		"multi-attach-enabled": truth(false), "attachment.attach-time": nil, "attachment.delete-on-termination": nil, "attachment.device": nil,
		"attachment.instance-id": nil, "attachment.status": nil,
	}
	for _, x := range item.Attachments {
		a["attachment.attach-time"], a["attachment.delete-on-termination"], a["attachment.device"] = one(x.Since), truth(x.Goes), one(x.Device)
		a["attachment.instance-id"], a["attachment.status"] = one(x.Instance), one(x.Status)
	}
	return a
}

type deleteVolumeInput struct {
	dry
	ID string `query:"VolumeId"`
}

func deleteVolume(r *accounts.Region, in *deleteVolumeInput) (*done, error) {
	return &done{true}, r.DeleteVolume(in.ID)
}
