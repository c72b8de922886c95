package openai

import (
	"strings"
	"testing"
)

// TestNamesImages: a server that takes no images is told from one that does not
// take this one.
func TestNamesImages(t *testing.T) {
	for said, want := range map[string]bool{
		"Failed to deserialize the JSON body into the target type: messages[8]: unknown variant `image_url`, expected `text`": true,
		"This model does not support image input":                                 true,
		"image input is not supported - hint: you may need to provide the mmproj": true,
		"Invalid content type. image_url is only supported by certain models.":    true,
		"Images are not supported by gpt-3.5":                                     true,
		"The model doesn't support vision":                                        true,
		"No endpoints found, for none does not support image input":               true,
		"m is not a multimodal model":                                             true,
		"At most 0 image(s) may be provided in one prompt.":                       true,
		"this model is missing data required for image input":                     true,
		"Unsupported content type 'image_url'":                                    true,

		"You uploaded an unsupported image. Please make sure your image is valid.":                   false,
		"You uploaded an unsupported image. Please make sure your image has of one the formats: png": false,
		"The image format image/tiff is not supported":                                               false,
		"Invalid image data":                       false,
		"Could not process image":                  false,
		"image exceeds 5 MB maximum":               false,
		"Unsupported media type of the image":      false,
		"The image is too large and not supported": false,
		"api revision 3 is not supported":          false,
		"the image_detail field is not supported":  false,
	} {
		if got := refusal(strings.ToLower(said)).namesImages(); got != want {
			t.Errorf("%q: %t, want %t", said, got, want)
		}
	}
}
