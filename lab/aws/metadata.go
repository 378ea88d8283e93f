package aws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// newMetadata serves IMDSv2, for a controller that asks where it runs
// (AWS_EC2_METADATA_SERVICE_ENDPOINT). It also hands out credentials, which the emulator does not check.
func (s *Server) newMetadata() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, h *http.Request) {
		seconds := h.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds")
		if n, err := strconv.Atoi(seconds); err != nil || n < 1 || n > 21600 {
			http.Error(w, "X-aws-ec2-metadata-token-ttl-seconds must be between 1 and 21600", http.StatusBadRequest)
			return
		}
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", seconds)
		fmt.Fprint(w, metadataToken)
	})
	serve := func(path string, answer func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, h *http.Request) {
			if h.Header.Get("X-Aws-Ec2-Metadata-Token") != metadataToken {
				http.Error(w, "Unauthorized", http.StatusUnauthorized)
				return
			}
			if text, ok := answer().(string); ok {
				fmt.Fprint(w, text)
				return
			}
			_ = json.NewEncoder(w).Encode(answer()) // the client went away
		})
	}
	serve("/latest/dynamic/instance-identity/document", func() any {
		return map[string]string{"accountId": s.config.Account, "region": s.config.Region, "availabilityZone": s.config.Region + "a", "version": "2017-09-30"}
	})
	serve("/latest/meta-data/placement/region", func() any { return s.config.Region })
	serve("/latest/meta-data/iam/security-credentials/", func() any { return "lab" })
	serve("/latest/meta-data/iam/security-credentials/lab", func() any {
		return map[string]any{"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": s.config.Account, "SecretAccessKey": "secret", "Token": "token",
			"LastUpdated": s.clock.Now().UTC().Format(time.RFC3339), "Expiration": s.clock.Now().Add(6 * time.Hour).UTC().Format(time.RFC3339)}
	})
	return mux
}

const metadataToken = "lab-metadata-token"
