package ec2

import (
	"slices"
	"time"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

type imagesInput struct {
	listing
	IDs               []string `query:"ImageId"`
	Owners            []string `query:"Owner"`
	ExecutableBy      []string
	IncludeDeprecated bool
	IncludeDisabled   bool
}

type imagesOutput struct {
	Images []imageItem `xml:"imagesSet>item"`
	Next   string      `xml:"nextToken,omitempty"`
}

type imageItem struct {
	ID             string       `xml:"imageId"`
	Name           string       `xml:"name"`
	Description    string       `xml:"description"`
	Location       string       `xml:"imageLocation"`
	State          string       `xml:"imageState"`
	Owner          string       `xml:"imageOwnerId"`
	Alias          string       `xml:"imageOwnerAlias,omitempty"`
	Public         bool         `xml:"isPublic"`
	Architecture   string       `xml:"architecture"`
	Type           string       `xml:"imageType"`
	Platform       string       `xml:"platform,omitempty"`
	RootType       string       `xml:"rootDeviceType"`
	RootDevice     string       `xml:"rootDeviceName"`
	Virtualization string       `xml:"virtualizationType"`
	Hypervisor     string       `xml:"hypervisor"`
	ENA            bool         `xml:"enaSupport"`
	Created        string       `xml:"creationDate"`
	Deprecated     string       `xml:"deprecationTime,omitempty"`
	SourceID       string       `xml:"sourceImageId,omitempty"`
	SourceRegion   string       `xml:"sourceImageRegion,omitempty"`
	Devices        []deviceItem `xml:"blockDeviceMapping>item"`
	Tags           []wire.Tag   `xml:"tagSet>item"`
}

type deviceItem struct {
	Name string `xml:"deviceName"`
	Size int    `xml:"ebs>volumeSize"`
	Type string `xml:"ebs>volumeType"`
	Goes bool   `xml:"ebs>deleteOnTermination"`
}

// describeImages shows a deprecated image to its owner, to callers that name it, and to
// callers that ask for deprecated ones (EC2: "Deprecate an AMI").
func describeImages(r *accounts.Region, in *imagesInput) (*imagesOutput, error) {
	if err := whole(in.listing, in.IDs, "imagesSet"); err != nil {
		return nil, err
	}
	images, err := pick(in.IDs, r.Images(), r.Image)
	if err != nil {
		return nil, err
	}
	images = slices.DeleteFunc(slices.Clone(images), func(i *accounts.Image) bool {
		hidden := i.IsDeprecated(r.Now()) && !in.IncludeDeprecated && i.Owner != r.Account.ID && len(in.IDs) == 0
		return hidden || !ownedBy(r, i, in.Owners)
	})
	found, next, err := list(in.listing, images, listed[*accounts.Image]{
		key:        func(i *accounts.Image) string { return i.ID },
		attributes: func(i *accounts.Image) (wire.Attributes, []wire.Tag) { return imageAttributes(i), i.Tags },
		limits:     wire.Limits{Min: 1, Max: 1000},
	})
	out := &imagesOutput{Next: next}
	for _, i := range found {
		out.Images = append(out.Images, itemOfImage(i))
	}
	return out, err
}

func ownedBy(r *accounts.Region, i *accounts.Image, owners []string) bool {
	return len(owners) == 0 || slices.ContainsFunc(owners, func(o string) bool {
		return o == i.Owner || o == "self" && i.Owner == r.Account.ID || o != "" && o == i.Alias
	})
}

func imageAttributes(i *accounts.Image) wire.Attributes {
	a := wire.Attributes{
		"image-id": one(i.ID), "name": one(i.Name), "description": one(i.Description), "state": one("available"), "architecture": one(i.Architecture),
		"owner-id": one(i.Owner), "owner-alias": one(i.Alias), "creation-date": one(stamp(i.Created)), "is-public": truth(i.Alias != ""),
		"image-type": one("machine"), "root-device-type": one("ebs"), "root-device-name": one(i.RootDevice), "virtualization-type": one("hvm"),
		"hypervisor": one("xen"), "platform": nil, "ena-support": truth(true),
	}
	if i.Family.Windows() {
		a["platform"] = one("windows")
	}
	return a
}

func itemOfImage(i *accounts.Image) imageItem {
	item := imageItem{
		ID: i.ID, Name: i.Name, Description: i.Description, Location: i.Owner + "/" + i.Name, State: "available", Owner: i.Owner, Alias: i.Alias,
		Public: i.Alias != "", Architecture: i.Architecture, Type: "machine", RootType: "ebs", RootDevice: i.RootDevice, Virtualization: "hvm",
		Hypervisor: "xen", ENA: true, Created: stamp(i.Created), Deprecated: optionalStamp(i.Deprecated), Tags: i.Tags,
		SourceID: i.SourceID, SourceRegion: i.SourceRegion,
	}
	if i.Family.Windows() {
		item.Platform = "windows"
	}
	for _, d := range i.Devices {
		item.Devices = append(item.Devices, deviceItem{d.Name, d.SizeGiB, "gp3", true})
	}
	return item
}

type copyImageInput struct {
	dry
	Token        string             `query:"ClientToken"`
	CopyTags     bool               `query:"CopyImageTags"`
	Description  string             `query:"Description"`
	Encrypted    bool               `query:"Encrypted"`
	Key          string             `query:"KmsKeyId"`
	Name         string             `query:"Name"`
	SourceID     string             `query:"SourceImageId"`
	SourceRegion string             `query:"SourceRegion"`
	TagSpecs     []accounts.TagSpec `query:"TagSpecification"`
}

type copyImageOutput struct {
	ID string `xml:"imageId"`
}

func copyImage(r *accounts.Region, in *copyImageInput) (*copyImageOutput, error) {
	if in.Key != "" && !in.Encrypted {
		return nil, wire.Errorf("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.")
	}
	tags, err := tagsOf(in.TagSpecs, "image", "snapshot")
	if err != nil {
		return nil, err
	}
	i, err := r.CopyImage(accounts.CopyOrder{
		SourceID: in.SourceID, SourceRegion: in.SourceRegion, Name: in.Name, Description: in.Description, Token: in.Token, CopyTags: in.CopyTags, Tags: tags,
	})
	if err != nil {
		return nil, err
	}
	return &copyImageOutput{i.ID}, nil
}

type imageInput struct {
	dry
	ID string `query:"ImageId"`
}

func deregisterImage(r *accounts.Region, in *imageInput) (*done, error) {
	return &done{true}, r.Deregister(in.ID)
}

type deprecateInput struct {
	imageInput
	At time.Time `query:"DeprecateAt"`
}

func enableDeprecation(r *accounts.Region, in *deprecateInput) (*done, error) {
	if in.At.IsZero() {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter DeprecateAt")
	}
	return &done{true}, r.Deprecate(in.ID, in.At)
}

func disableDeprecation(r *accounts.Region, in *imageInput) (*done, error) {
	return &done{true}, r.Deprecate(in.ID, time.Time{})
}
