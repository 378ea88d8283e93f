package accounts

import (
	"regexp"
	"strings"

	"tenon/cloud/aws/facts"
)

// localZone is the form of the names of local zones, such as us-west-2-lax-1a: the region, a place, a number and a letter.
var localZone = regexp.MustCompile(`^([a-z]+(?:-[a-z]+)+-[0-9])-([a-z]{3}-[0-9])([a-z])$`)

// IsLocalZone reports whether a name can be that of a local zone.
func IsLocalZone(name string) bool { return localZone.MatchString(name) }

// LocalGroup returns the group of a local zone, to which an account opts in, and whether the zone is one.
func LocalGroup(zone string) (group string, is bool) {
	parts := localZone.FindStringSubmatch(zone)
	if parts == nil {
		return "", false
	}
	return parts[1] + "-" + parts[2], true
}

// localZones returns the local zones of the region to which the account has opted in.
func (r *Region) localZones() []facts.Zone {
	var out []facts.Zone
	prefix, _, _ := strings.Cut(r.Zones[0].ID, "-") // such as usw2
	for _, name := range r.world.config.LocalZones {
		parts := localZone.FindStringSubmatch(name)
		if parts[1] == r.Name {
			out = append(out, facts.Zone{Name: name, ID: prefix + "-" + strings.ReplaceAll(parts[2], "-", "") + "-az" + string('1'+parts[3][0]-'a')})
		}
	}
	return out
}
