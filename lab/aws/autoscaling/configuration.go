package autoscaling

import (
	"tenon/lab/aws/accounts"
)

type createConfigurationInput struct {
	Name           string   `query:"LaunchConfigurationName"`
	ImageID        string   `query:"ImageId"`
	InstanceType   string   `query:"InstanceType"`
	KeyName        string   `query:"KeyName"`
	UserData       string   `query:"UserData"`
	Profile        string   `query:"IamInstanceProfile"`
	SpotPrice      string   `query:"SpotPrice"`
	SecurityGroups []string `query:"SecurityGroups"`
}

func createConfiguration(r *accounts.Region, in *createConfigurationInput) (*done, error) {
	s := accounts.Spec{
		ImageID: in.ImageID, InstanceType: in.InstanceType, KeyName: in.KeyName, UserData: in.UserData, GroupIDs: in.SecurityGroups, Profile: accounts.ProfileNamed(in.Profile),
	}
	if in.SpotPrice != "" {
		s.Market.MarketType, s.Market.SpotOptions.MaxPrice = "spot", in.SpotPrice
	}
	return nothing(r.CreateConfiguration(in.Name, s))
}

type deleteConfigurationInput struct {
	Name string `query:"LaunchConfigurationName"`
}

func deleteConfiguration(r *accounts.Region, in *deleteConfigurationInput) (*done, error) {
	return nothing(r.DeleteConfiguration(in.Name))
}

type configurationsInput struct {
	paging
	Names []string `query:"LaunchConfigurationNames"`
}

type configurationsOutput struct {
	Configurations []configurationItem `xml:"LaunchConfigurations>member"`
	Next           string              `xml:"NextToken,omitempty"`
}

type configurationItem struct {
	Name           string   `xml:"LaunchConfigurationName"`
	ARN            string   `xml:"LaunchConfigurationARN"`
	ImageID        string   `xml:"ImageId"`
	InstanceType   string   `xml:"InstanceType"`
	KeyName        string   `xml:"KeyName"`
	UserData       string   `xml:"UserData"`
	Profile        string   `xml:"IamInstanceProfile,omitempty"`
	SpotPrice      string   `xml:"SpotPrice,omitempty"`
	SecurityGroups []string `xml:"SecurityGroups>member"`
	Created        string   `xml:"CreatedTime"`
}

func configurations(r *accounts.Region, in *configurationsInput) (*configurationsOutput, error) {
	cut, next, err := page(r.Configurations(in.Names), func(c *accounts.LaunchConfiguration) string { return c.Name }, in.paging)
	out := &configurationsOutput{Next: next}
	for _, c := range cut {
		profile := c.Spec.Profile.Name
		if profile == "" {
			profile = c.Spec.Profile.Arn
		}
		out.Configurations = append(out.Configurations, configurationItem{
			Name: c.Name, ARN: r.ARN("autoscaling", "launchConfiguration:"+c.Name+":launchConfigurationName/"+c.Name), ImageID: c.Spec.ImageID,
			InstanceType: c.Spec.InstanceType, KeyName: c.Spec.KeyName, UserData: c.Spec.UserData, Profile: profile, SpotPrice: c.Spec.Market.SpotOptions.MaxPrice,
			SecurityGroups: c.Spec.GroupIDs, Created: stamp(c.Created),
		})
	}
	return out, err
}
