package userdata

import "strings"

// shell is the user data of AL2: the user's scripts, and last the call of the program
// that is in the image.
func shell(in Input) (string, error) {
	var parts []part
	switch {
	case isArchive(in.Custom):
		own, err := partsOf(in.Custom)
		if err != nil {
			return "", err
		}
		parts = own
	case in.Custom != "":
		parts = []part{partOf(typeScript, in.Custom)}
	}
	return archive(append(parts, partOf(typeScript, script(in)))), nil
}

// single quotes a word for a shell.
func single(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func script(in Input) string {
	call := "/etc/eks/bootstrap.sh " + single(in.Cluster.Name) + " --apiserver-endpoint " + single(in.Cluster.Endpoint)
	if in.Cluster.CABundle != "" {
		call += " --b64-cluster-ca " + single(in.Cluster.CABundle)
	}
	words := []string{call}
	if strings.Contains(in.dns(), ":") {
		words = append(words, "--ip-family ipv6")
	}
	if in.dns() != "" {
		words = append(words, "--dns-cluster-ip "+single(in.dns()))
	}
	words = append(words, "--use-max-pods false", "--kubelet-extra-args "+single(flags(in)))
	if in.RAID0 {
		words = append(words, "--local-disks raid0")
	}
	return "#!/bin/bash -xe\n" +
		"exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n" +
		strings.Join(words, " \\\n")
}
